import { RecentSet } from "./recent-set.ts";

const keyOf = (signalId: string, sessionId: string | null | undefined): string =>
  JSON.stringify([signalId, sessionId ?? null]);

/** Signal ids that were answered lately, so that a late repetition is known as one although its pause is over. */
export class AnsweredSignals {
  readonly #keys: RecentSet;

  /** `limit` is how many are remembered. */
  constructor(limit: number) {
    // Each is remembered with its session and without.
    this.#keys = new RecentSet(2 * limit);
  }

  add(signalId: string, sessionId: string | null): void {
    this.#keys.add(keyOf(signalId, undefined));
    this.#keys.add(keyOf(signalId, sessionId));
  }

  /** Whether it was answered, in this session where one is given. */
  has(signalId: string | undefined, sessionId: string | undefined): boolean {
    return signalId !== undefined && this.#keys.has(keyOf(signalId, sessionId));
  }
}
