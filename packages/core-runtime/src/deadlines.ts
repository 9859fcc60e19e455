import type { Clock } from "@harnesskit/wire";

/** Something that is due at a point in time. Whoever waits is the entry itself, so that waiting allocates nothing. */
export interface Deadline {
  /** When it is due, in milliseconds of the clock. Changed only while it is not set. */
  dueAt: number;
  /** Its place among the deadlines, -1 while it is not set. */
  position: number;
  /** It is due. It is no longer set then, and may set itself again. Must not throw. */
  expired(): void;
}

/**
 * All deadlines of a core behind one timer: a binary heap whose entries know their place, so that setting and clearing
 * cost the logarithm of their number. The timer is left alone when the next deadline goes away: it finds nothing due
 * and is set anew.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #heap: Deadline[] = [];
  #timer: (() => void) | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** Sets the deadline to `dueAt`, whether it was set or not. */
  set(entry: Deadline, dueAt: number): void {
    if (entry.position >= 0) this.clear(entry);
    entry.dueAt = dueAt;
    this.#heap.push(entry);
    this.#up(entry, this.#heap.length - 1);
    if (dueAt < this.#timerAt) this.#arm(dueAt);
  }

  /** Takes the deadline out. Does nothing when it is not set. */
  clear(entry: Deadline): void {
    const at = entry.position;
    if (at < 0) return;
    entry.position = -1;
    const last = this.#heap.pop();
    if (last === undefined || last === entry) return;
    this.#up(last, at);
    this.#down(last, last.position);
  }

  /** Forgets everything and stops the timer. */
  close(): void {
    for (const entry of this.#heap.splice(0)) entry.position = -1;
    this.#timer?.();
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  #arm(dueAt: number): void {
    this.#timer?.();
    this.#timerAt = dueAt;
    this.#timer = this.#clock.after(Math.max(0, dueAt - this.#clock.now()), this.#tick);
  }

  readonly #tick = (): void => {
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = this.#clock.now();
    for (let next = this.#heap[0]; next !== undefined && next.dueAt <= now; next = this.#heap[0]) {
      this.clear(next);
      next.expired();
    }
    const [first] = this.#heap;
    if (first && first.dueAt < this.#timerAt) this.#arm(first.dueAt);
  };

  #up(entry: Deadline, from: number): void {
    const heap = this.#heap;
    let at = from;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || parent.dueAt <= entry.dueAt) break;
      heap[at] = parent;
      parent.position = at;
      at = parentAt;
    }
    heap[at] = entry;
    entry.position = at;
  }

  #down(entry: Deadline, from: number): void {
    const heap = this.#heap;
    let at = from;
    for (;;) {
      let childAt = 2 * at + 1;
      let child = heap[childAt];
      if (child === undefined) break;
      const right = heap[childAt + 1];
      if (right !== undefined && right.dueAt < child.dueAt) {
        child = right;
        childAt++;
      }
      if (entry.dueAt <= child.dueAt) break;
      heap[at] = child;
      child.position = at;
      at = childAt;
    }
    heap[at] = entry;
    entry.position = at;
  }
}
