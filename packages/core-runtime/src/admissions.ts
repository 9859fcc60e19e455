import { randomBytes } from "node:crypto";
import { sha256Hex } from "@harnesskit/node-kit";
import { BufferFullError, type Clock, InvalidArgumentError } from "@harnesskit/wire";
import type { DisconnectReason, Launch, LaunchObserver } from "./launch-port.ts";

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
  readonly #maxAdmissions: number;
  /** By the hash of the token: how long a look-up of a hash takes says nothing of a token. */
  readonly #launches = new Map<string, AdmittedLaunch>();

  constructor(clock: Clock, tokenLifetimeMs: number, maxAdmissions: number) {
    this.#clock = clock;
    this.#tokenLifetimeMs = tokenLifetimeMs;
    this.#maxAdmissions = maxAdmissions;
  }

  /** Throws `invalid_argument` for a launch that is admitted already, `buffer_full` when there are too many. */
  add(launch: Launch, observer: LaunchObserver): { token: string; admitted: AdmittedLaunch } {
    if (this.all().some((other) => other.launch.launchId === launch.launchId)) {
      throw new InvalidArgumentError(`the launch ${launch.launchId} is admitted already`);
    }
    if (this.#launches.size >= this.#maxAdmissions) {
      throw new BufferFullError("maxAdmissions", this.#maxAdmissions);
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
