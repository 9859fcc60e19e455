import { InvalidArgumentError } from "@harnesskit/wire";

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

export type ReconnectPolicy = Required<ReconnectOptions>;

/** The policy with its defaults; undefined for none. Throws `invalid_argument`. */
export const resolveReconnect = (options: false | ReconnectOptions = false): ReconnectPolicy | undefined => {
  if (options === false) return undefined;
  const { maxAttempts = 10, initialDelayMs = 200, maxDelayMs = 30_000, random = Math.random } = options;
  if (!(maxAttempts >= 1)) throw new InvalidArgumentError("reconnect.maxAttempts is at least 1");
  if (!(initialDelayMs >= 0 && maxDelayMs >= initialDelayMs)) {
    throw new InvalidArgumentError("reconnect.initialDelayMs is at least 0, and maxDelayMs no less");
  }
  return { maxAttempts, initialDelayMs, maxDelayMs, random };
};

/** How long to wait before an attempt, the first being 1. */
export const delayBeforeMs = (attempt: number, policy: ReconnectPolicy): number => {
  const { initialDelayMs, maxDelayMs, random } = policy;
  const longest = Math.min(maxDelayMs, initialDelayMs * 2 ** Math.min(attempt - 1, 1000));
  return longest / 2 + (random() * longest) / 2;
};
