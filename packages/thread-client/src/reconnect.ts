import { type Backoff, resolveBackoff } from "@harnesskit/wire";

/** How a lost connection is made anew. */
export interface ReconnectOptions {
  /** Attempts in a row, until the client is closed; Infinity for ever. @default 10 */
  readonly maxAttempts?: number;
  /** The longest wait before the first attempt; it doubles with each. @default 200 */
  readonly initialDelayMs?: number;
  /** @default 30000 */
  readonly maxDelayMs?: number;
  /** A number from 0 up to 1. Each wait is between half and all of its length. @default Math.random */
  readonly random?: () => number;
}

export type ReconnectPolicy = Backoff;

/** The policy with its defaults; undefined for none. Throws `invalid_argument`. */
export const resolveReconnect = (options: false | ReconnectOptions = false): ReconnectPolicy | undefined =>
  options === false
    ? undefined
    : resolveBackoff(options, { maxAttempts: 10, initialDelayMs: 200, prefix: "reconnect." });
