import { randomBytes } from "node:crypto";
import { sha256Hex } from "@harnesskit/node-kit";
import { AgentIdSchema, type AgentManifest, RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { CoreContext } from "./core-context.ts";

/** One start of an agent's process, as described by what started it. */
export interface Launch {
  /** Unique among the launches of a core. */
  readonly launchId: string;
  readonly agentId: string;
  /** Its permissions and limits hold for the calls of this agent. */
  readonly manifest?: AgentManifest | undefined;
}

/** Why a session is over. */
export interface DisconnectReason {
  readonly code: string;
  readonly message: string;
}

/** Receives the events of a launch. What a method throws goes to `onError`. */
export interface LaunchObserver {
  /** The agent connected with this launch's token. */
  connected(session: { readonly sessionId: string; readonly agentVersion: string }): void;
  /** The tools that the agent has now, after a registration or an unregistration. */
  registered(toolIds: readonly string[]): void;
  /** The agent's health: as its heartbeat reports, or `unhealthy` because heartbeats were missed. On change only. */
  health(status: "ok" | "degraded" | "unhealthy", reason?: string): void;
  /** The session is over. */
  disconnected(reason: DisconnectReason): void;
}

/** The right of one launch to connect. */
export interface Admission {
  /** The session token: 256 random bits as base64url, valid for one `agent.hello`. Secret. */
  readonly token: string;
  /**
   * The launch is over: its token becomes invalid, its session is closed, and its running calls settle at once with
   * `agent.lost`. Does nothing the second time.
   */
  revoke(reason?: DisconnectReason): void;
}

/** Why a token is refused. For the audit only: the other side does not receive it. */
export type TokenRefusal = "unknown" | "expired" | "used" | "other_agent";

/** A launch that was admitted. */
export interface AdmittedLaunch {
  readonly launch: Launch;
  readonly observer: LaunchObserver;
  /** When the token becomes invalid. */
  readonly expiresAt: number;
  used: boolean;
  /** Set while a session of this launch is open. */
  end: ((reason: DisconnectReason) => void) | undefined;
}

const launchOver: DisconnectReason = { code: RuntimeErrorCode.AgentLost, message: "the launch is over" };

/** The launches that may connect. A token is 256 random bits, valid once and for a short time, for the agent of its launch. */
export class Admissions {
  readonly #context: CoreContext;
  /** By the hash of the token: how long a look-up of a hash takes says nothing of a token. */
  readonly #launches = new Map<string, AdmittedLaunch>();

  constructor(context: CoreContext) {
    this.#context = context;
  }

  admit(launch: Launch, observer: LaunchObserver): Admission {
    if (!AgentIdSchema.safeParse(launch.agentId).success) {
      throw new InvalidArgumentError("agentId must be an agent id as in a manifest");
    }
    const { audit, clock, redactor, times } = this.#context;
    const token = randomBytes(32).toString("base64url");
    const hash = sha256Hex(token);
    const expiresAt = clock.elapsedMs() + times.tokenLifetimeMs;
    const admitted: AdmittedLaunch = { launch, observer, expiresAt, used: false, end: undefined };
    this.#launches.set(hash, admitted);
    audit?.addSecret(token);
    redactor.addSecret(token);
    const record = (action: string, code?: string) => {
      const details = { launch_id: launch.launchId, code };
      audit?.record({ action, outcome: "ok", agent_id: launch.agentId, details });
    };
    record("agent.admitted");
    return {
      token,
      revoke: (reason) => {
        if (!this.#launches.delete(hash)) return;
        admitted.end?.(reason ?? launchOver);
        record("agent.revoked", reason?.code);
        audit?.removeSecret(token);
        redactor.removeSecret(token);
      },
    };
  }

  /** The launch of the token, which is used up. */
  redeem(token: string, agentId: string): AdmittedLaunch | TokenRefusal {
    const found = this.#launches.get(sha256Hex(token));
    if (!found) return "unknown";
    if (found.launch.agentId !== agentId) return "other_agent";
    if (found.used) return "used";
    if (this.#context.clock.elapsedMs() >= found.expiresAt) return "expired";
    found.used = true;
    return found;
  }

  /** Whether a launch of this agent is admitted. */
  hasAgent(agentId: string): boolean {
    return [...this.#launches.values()].some(({ launch }) => launch.agentId === agentId);
  }

  /** No token is valid any more. */
  clear(): void {
    this.#launches.clear();
  }
}
