import { type Backoff, backoffDelayMs, resolveBackoff } from "@harnesskit/wire";

/** How a lost connection is made anew, with a handshake of its own. */
export interface ReconnectOptions {
  /**
   * Attempts in a row; Infinity until the client is closed. A connection counts as one that failed until the harness
   * has answered a call over it, or it has lasted `maxDelayMs`. @default 10
   */
  readonly maxAttempts?: number;
  /** The longest wait before the first attempt, in milliseconds; it doubles with each. @default 100 */
  readonly initialDelayMs?: number;
  /** The longest wait of all, in milliseconds. @default 30000 */
  readonly maxDelayMs?: number;
  /** A number from 0 up to 1. Each wait is between half and all of its length. @default Math.random */
  readonly random?: () => number;
}

export type ReconnectPolicy = Backoff;

/** The policy with its defaults; undefined for none. Throws `invalid_argument`. */
export const resolveReconnect = (options: false | ReconnectOptions = {}): ReconnectPolicy | undefined =>
  options === false
    ? undefined
    : resolveBackoff(options, { maxAttempts: 10, initialDelayMs: 100, prefix: "reconnect." });

/** Counts the attempts in a row. */
export class Attempts {
  readonly #policy: ReconnectPolicy;
  #made = 0;

  constructor(policy: ReconnectPolicy) {
    this.#policy = policy;
  }

  /** How long to wait before the next attempt, which counts from here; undefined when there is none. */
  next(): number | undefined {
    if (this.#made >= this.#policy.maxAttempts) return undefined;
    return backoffDelayMs(++this.#made, this.#policy);
  }

  /** The connection served, or somebody asks for one. */
  reset(): void {
    this.#made = 0;
  }

  /** A connection was lost that lasted so long. */
  lasted(ms: number): void {
    if (ms >= this.#policy.maxDelayMs) this.reset();
  }
}
