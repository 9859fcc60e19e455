import type { Clock } from "./clock.ts";

/** Something that is due at a point in time: what waits is itself the entry. */
export interface TimerEntry {
  /** When it is due, in milliseconds of the clock. Only the table writes it. */
  dueAt: number;
  /** Called once when it is due, and no longer set; it may set itself again. Must not throw. */
  expired(): void;
}

/**
 * Many deadlines on one timer. Setting and clearing cost the same however many there are; each time that the timer fires, at
 * the earliest deadline that was set, all entries are looked at.
 */
export class TimerTable {
  readonly #clock: Clock;
  readonly #entries = new Set<TimerEntry>();
  #cancelTimer: (() => void) | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Sets the entry to `dueAt`, whether it was set or not. */
  set(entry: TimerEntry, dueAt: number): void {
    entry.dueAt = dueAt;
    this.#entries.add(entry);
    if (dueAt < this.#timerAt) this.#arm(dueAt);
  }

  /** Removes the entry. Does nothing when it is not set. */
  clear(entry: TimerEntry): void {
    this.#entries.delete(entry);
  }

  /** Removes all entries and stops the timer. */
  close(): void {
    this.#entries.clear();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  #arm(dueAt: number): void {
    this.#cancelTimer?.();
    this.#timerAt = dueAt;
    this.#cancelTimer = this.#clock.after(Math.max(0, dueAt - this.#clock.now()), this.#tick);
  }

  readonly #tick = (): void => {
    this.#cancelTimer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = this.#clock.now();
    const due = [...this.#entries].filter(({ dueAt }) => dueAt <= now);
    for (const entry of due.sort((one, other) => one.dueAt - other.dueAt)) {
      // One that expired before may have cleared this one, or set it anew.
      if (entry.dueAt <= now && this.#entries.delete(entry)) entry.expired();
    }
    let next = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#entries) next = Math.min(next, dueAt);
    if (next < this.#timerAt) this.#arm(next);
  };
}
