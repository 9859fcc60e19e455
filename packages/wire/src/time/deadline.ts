import type { Clock } from "./clock.ts";

/** How long one timer waits at most: what a deadline may be given again of the time that the machine slept. */
const maxPartMs = 10_000;
/** A timer that is later than this was slept through. */
const sleptMs = 1000;

export interface DeadlinesOptions<Entry> {
  readonly clock: Clock;
  /** Everything that may be given up. Looked through whenever the timer fires, which is rarely. */
  entries(): Iterable<Entry>;
  /** Gives an entry up: afterwards it is none of the entries, or its `dueMs` is a later one. */
  expired(entry: Entry): void;
  /** Whether the timer keeps the process alive. @default false */
  readonly holdsProcess?: boolean | undefined;
}

/**
 * When entries are given up, for any number of them with one timer, which is set for the earliest. Some systems count the
 * time that the machine slept, and then call timers before the messages that arrived meanwhile: the part of the time that
 * was slept through, at most 10 s of which was waited for, does not count.
 */
export class Deadlines<Entry extends { readonly dueMs: number }> {
  readonly #options: DeadlinesOptions<Entry>;
  #cancelTimer: (() => void) | undefined;
  /** Since when the timer runs and when it is due, by `elapsedMs` of the clock. */
  #setMs = 0;
  #timerMs = Number.POSITIVE_INFINITY;
  #uncountedMs = 0;
  #isGivenAgain = false;

  constructor(options: DeadlinesOptions<Entry>) {
    this.#options = options;
  }

  /** The `dueMs` of an entry that is given up after `delayMs` from now on; Infinity never. */
  dueAfter(delayMs: number): number {
    const nowMs = this.#options.clock.elapsedMs();
    if (this.#isSleptThrough(nowMs)) this.#giveAgain(nowMs);
    const dueMs = nowMs - this.#uncountedMs + delayMs;
    if (dueMs + this.#uncountedMs < this.#timerMs) this.#setTimer(nowMs, delayMs);
    return dueMs;
  }

  /** Nothing is given up any more. */
  stop(): void {
    this.#cancelTimer?.();
    this.#timerMs = Number.POSITIVE_INFINITY;
  }

  #setTimer(nowMs: number, delayMs: number): void {
    this.stop();
    if (delayMs === Number.POSITIVE_INFINITY) return;
    const { clock, holdsProcess } = this.#options;
    const partMs = Math.min(delayMs, maxPartMs);
    this.#setMs = nowMs;
    this.#timerMs = nowMs + partMs;
    this.#cancelTimer = clock.after(partMs, () => this.#fire(), holdsProcess);
  }

  #fire(): void {
    const nowMs = this.#options.clock.elapsedMs();
    if (this.#isSleptThrough(nowMs)) {
      this.#giveAgain(nowMs);
      return;
    }
    const options = this.#options;
    this.#isGivenAgain = false;
    this.#timerMs = Number.POSITIVE_INFINITY;
    const countedMs = nowMs - this.#uncountedMs;
    for (const entry of [...options.entries()].filter(({ dueMs }) => dueMs <= countedMs)) {
      options.expired(entry);
    }
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const { dueMs } of options.entries()) earliestMs = Math.min(earliestMs, dueMs);
    if (earliestMs + this.#uncountedMs < this.#timerMs) this.#setTimer(nowMs, earliestMs - countedMs);
  }

  /** Late twice in a row is a busy process, or a page in the background. */
  #isSleptThrough(nowMs: number): boolean {
    return !this.#isGivenAgain && nowMs - this.#timerMs > sleptMs;
  }

  #giveAgain(nowMs: number): void {
    const partMs = this.#timerMs - this.#setMs;
    this.#isGivenAgain = true;
    this.#uncountedMs += nowMs - this.#setMs;
    this.#setTimer(nowMs, partMs);
  }
}

/**
 * Calls `expired` once after `delayMs`, for what is given up then; Infinity never. Returns what takes it back. Time that
 * was slept through counts as in {@link Deadlines}.
 */
export const startDeadline = (
  delayMs: number,
  expired: () => void,
  options: { readonly clock: Clock; readonly holdsProcess?: boolean },
): (() => void) => {
  let entries: { dueMs: number }[] = [];
  const deadlines = new Deadlines({
    clock: options.clock,
    holdsProcess: options.holdsProcess,
    entries: () => entries,
    expired() {
      entries = [];
      expired();
    },
  });
  entries.push({ dueMs: deadlines.dueAfter(delayMs) });
  return () => deadlines.stop();
};
