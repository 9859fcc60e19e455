import type { Clock } from "./clock.ts";

/** Something that is due at a point in time: what waits is itself the entry. */
export interface TimerEntry {
  /** When it is due, in milliseconds of the clock. Only the table writes it. */
  dueAt: number;
  /** Where it stands in the table; undefined while it is not set. Only the table writes it. */
  place?: number | undefined;
  /** Called once when it is due, and no longer set; it may set itself again. Must not throw. */
  expired(): void;
}

/**
 * Many deadlines on one timer. Setting and clearing cost the same however many there are; each time that the timer fires, at
 * the earliest deadline that was set, all entries are looked at. An array, because a Set that many short-lived entries pass
 * through keeps them alive: V8 links each table that it grew out of to the next one, and the first of them may be old.
 */
export class TimerTable {
  readonly #clock: Clock;
  readonly #entries: TimerEntry[] = [];
  #cancelTimer: (() => void) | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Sets the entry to `dueAt`, whether it was set or not. */
  set(entry: TimerEntry, dueAt: number): void {
    entry.dueAt = dueAt;
    entry.place ??= this.#entries.push(entry) - 1;
    if (dueAt < this.#timerAt) this.#arm(dueAt);
  }

  /** Removes the entry. Does nothing when it is not set. */
  clear(entry: TimerEntry): void {
    const { place } = entry;
    if (place === undefined) return;
    entry.place = undefined;
    const last = this.#entries.pop();
    if (last === undefined || last === entry) return;
    this.#entries[place] = last;
    last.place = place;
  }

  /** Removes all entries and stops the timer. */
  close(): void {
    for (const entry of this.#entries.splice(0)) entry.place = undefined;
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
    const due = this.#entries.filter(({ dueAt }) => dueAt <= now);
    for (const entry of due.sort((one, other) => one.dueAt - other.dueAt)) {
      // One that expired before may have cleared this one, or set it anew.
      if (entry.dueAt > now || entry.place === undefined) continue;
      this.clear(entry);
      entry.expired();
    }
    let next = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#entries) next = Math.min(next, dueAt);
    if (next < this.#timerAt) this.#arm(next);
  };
}
