import { randomBytes } from "node:crypto";
import { sha256Hex } from "@harnesskit/node-kit";
import type { AgentManifest } from "@harnesskit/protocol/runtime";
import { type Clock, InvalidArgumentError } from "@harnesskit/wire";

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

/** The launches that may connect. A token is 256 random bits, valid once and for a short time, for the agent of its launch. */
export class Admissions {
  readonly #clock: Clock;
  readonly #tokenLifetimeMs: number;
  /** By the hash of the token: how long a look-up of a hash takes says nothing of a token. */
  readonly #launches = new Map<string, AdmittedLaunch>();

  constructor(clock: Clock, tokenLifetimeMs: number) {
    this.#clock = clock;
    this.#tokenLifetimeMs = tokenLifetimeMs;
  }

  /** Throws `invalid_argument` for a launch that is admitted already. */
  add(launch: Launch, observer: LaunchObserver): { token: string; admitted: AdmittedLaunch } {
    if (this.all().some((other) => other.launch.launchId === launch.launchId)) {
      throw new InvalidArgumentError(`the launch ${launch.launchId} is admitted already`);
    }
    const token = randomBytes(32).toString("base64url");
    const expiresAt = this.#clock.elapsedMs() + this.#tokenLifetimeMs;
    const admitted: AdmittedLaunch = { launch, observer, expiresAt, used: false, end: undefined };
    this.#launches.set(sha256Hex(token), admitted);
    return { token, admitted };
  }

  /** The launch of the token, which is used up. */
  redeem(token: string, agentId: string): AdmittedLaunch | TokenRefusal {
    const found = this.#launches.get(sha256Hex(token));
    if (!found) return "unknown";
    if (found.launch.agentId !== agentId) return "other_agent";
    if (found.used) return "used";
    if (this.#clock.elapsedMs() >= found.expiresAt) return "expired";
    found.used = true;
    return found;
  }

  /** Returns false when it was taken out before. */
  remove(admitted: AdmittedLaunch): boolean {
    for (const [hash, other] of this.#launches) if (other === admitted) return this.#launches.delete(hash);
    return false;
  }

  /** Whether a launch of this agent is admitted. */
  hasAgent(agentId: string): boolean {
    return this.all().some(({ launch }) => launch.agentId === agentId);
  }

  all(): AdmittedLaunch[] {
    return [...this.#launches.values()];
  }
}
