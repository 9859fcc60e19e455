import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { BufferFullError, type Clock, InvalidArgumentError } from "@harnesskit/wire";
import type { DisconnectReason, Launch, LaunchObserver } from "./launch-port.ts";

/** Why a token is refused. For the audit only: the other side does not receive it. */
export type TokenRefusal = "unknown" | "expired" | "used" | "other_agent";

/** A launch that was admitted. */
export interface AdmittedLaunch {
  readonly launch: Launch;
  readonly observer: LaunchObserver;
  /** SHA-256 of the token. */
  readonly tokenHash: Buffer;
  /** When the token becomes invalid. */
  expiresAt: number;
  used: boolean;
  /** Set while a session of this launch is open. */
  end: ((reason: DisconnectReason) => void) | undefined;
}

const tokenBytes = 32;

export const tokenHash = (token: string): Buffer => createHash("sha256").update(token).digest();

/**
 * The launches that may connect. A token is 256 random bits, valid once and for a short time, for the agent of its
 * launch; only its hash is kept, and it is compared in constant time with that of every launch.
 */
export class Admissions {
  readonly #clock: Clock;
  readonly #tokenLifetimeMs: number;
  readonly #maxAdmissions: number;
  readonly #launches = new Map<string, AdmittedLaunch>();

  constructor(clock: Clock, tokenLifetimeMs: number, maxAdmissions: number) {
    this.#clock = clock;
    this.#tokenLifetimeMs = tokenLifetimeMs;
    this.#maxAdmissions = maxAdmissions;
  }

  /** Throws `invalid_argument` for a launch that is admitted already, `buffer_full` when there are too many. */
  add(launch: Launch, observer: LaunchObserver): { token: string; admitted: AdmittedLaunch } {
    if (this.#launches.has(launch.launchId)) {
      throw new InvalidArgumentError(`the launch ${launch.launchId} is admitted already`);
    }
    if (this.#launches.size >= this.#maxAdmissions) {
      throw new BufferFullError("maxAdmissions", this.#maxAdmissions);
    }
    const token = randomBytes(tokenBytes).toString("base64url");
    const admitted: AdmittedLaunch = {
      launch,
      observer,
      tokenHash: tokenHash(token),
      expiresAt: this.#clock.elapsedMs() + this.#tokenLifetimeMs,
      used: false,
      end: undefined,
    };
    this.#launches.set(launch.launchId, admitted);
    return { token, admitted };
  }

  /** The launch of the token, which is used up. */
  redeem(token: string, agentId: string): AdmittedLaunch | TokenRefusal {
    const hash = tokenHash(token);
    let found: AdmittedLaunch | undefined;
    for (const admitted of this.#launches.values()) {
      if (timingSafeEqual(hash, admitted.tokenHash)) found = admitted;
    }
    if (!found) return "unknown";
    if (found.launch.agentId !== agentId) return "other_agent";
    if (found.used) return "used";
    if (this.#clock.elapsedMs() >= found.expiresAt) return "expired";
    found.used = true;
    return found;
  }

  /** The token of this launch is valid for one more hello, until `waitMs` and its lifetime have passed. */
  rearm(admitted: AdmittedLaunch, waitMs: number): void {
    admitted.used = false;
    admitted.expiresAt = this.#clock.elapsedMs() + waitMs + this.#tokenLifetimeMs;
  }

  /** Returns false when it was taken out before. */
  remove(admitted: AdmittedLaunch): boolean {
    if (this.#launches.get(admitted.launch.launchId) !== admitted) return false;
    return this.#launches.delete(admitted.launch.launchId);
  }

  /** Whether a launch of this agent is admitted. */
  hasAgent(agentId: string): boolean {
    for (const { launch } of this.#launches.values()) if (launch.agentId === agentId) return true;
    return false;
  }

  all(): AdmittedLaunch[] {
    return [...this.#launches.values()];
  }
}
