import type { Clock } from "@harnesskit/wire";
import type { ShellEngineLimits } from "./limits.ts";

/** A request and the response to it. */
export interface Remembered {
  /** The request as JSON. */
  readonly text: string;
  /** The response as JSON: many small objects that stay cost the garbage collector more than their text. */
  readonly answer: string;
  readonly doneAt: number;
}

/** The requests of one owner, in the order in which their responses came. */
class Owner {
  readonly done = new Map<string, Remembered>();
  /** Kept, because a new iterator walks over the places of all responses that have left. */
  readonly #oldestFirst = this.done.entries();
  #oldest: [string, Remembered] | undefined;

  get oldest(): [string, Remembered] | undefined {
    if (this.done.size === 0) this.#oldest = undefined;
    else {
      while (this.#oldest === undefined || this.done.get(this.#oldest[0]) !== this.#oldest[1])
        this.#oldest = this.#oldestFirst.next().value;
    }
    return this.#oldest;
  }
}

type MemoryLimits = Pick<ShellEngineLimits, "maxRememberedLength" | "maxRememberedRequests" | "rememberMs">;

/**
 * Responses by owner and request, bounded in number, size and time. When there is no room, the owner that adds one loses the
 * oldest of its own, and only without any the owner that added nothing for the longest time loses one.
 */
export class RequestMemory {
  /** In the order of their last response. */
  readonly #owners = new Map<string, Owner>();
  readonly #limits: MemoryLimits;
  readonly #clock: Clock;
  #size = 0;
  #length = 0;

  constructor(limits: MemoryLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get size(): number {
    return this.#size;
  }

  get(name: string, key: string): Remembered | undefined {
    const owner = this.#owners.get(name);
    const known = owner?.done.get(key);
    if (owner === undefined || known === undefined || !this.#isOver(known)) return known;
    this.#remove(name, owner, key, known);
    return undefined;
  }

  /** Adds one whose key is not remembered. */
  add(name: string, key: string, text: string, answer: string): void {
    const known = this.#owners.get(name);
    const owner = known ?? new Owner();
    if (known === undefined || this.#owners.size > 1) {
      this.#owners.delete(name);
      this.#owners.set(name, owner);
    }
    const added = { text, answer, doneAt: this.#clock.elapsedMs() };
    owner.done.set(key, added);
    this.#size++;
    this.#length += lengthOf(key, added) + (known ? 0 : name.length);
    this.#trim(name, owner);
    for (const [other, others] of this.#owners) {
      if (others !== owner) this.#trim(other, others);
      if (!this.#isFull) return;
    }
  }

  #isOver({ doneAt }: Remembered): boolean {
    return this.#clock.elapsedMs() - doneAt >= this.#limits.rememberMs;
  }

  get #isFull(): boolean {
    return this.#size > this.#limits.maxRememberedRequests || this.#length > this.#limits.maxRememberedLength;
  }

  /** Drops the oldest responses of an owner: those whose time is over, and others as long as there is no room. */
  #trim(name: string, owner: Owner): void {
    for (let next = owner.oldest; next; next = owner.oldest) {
      if (!this.#isFull && !this.#isOver(next[1])) return;
      this.#remove(name, owner, ...next);
    }
  }

  #remove(name: string, owner: Owner, key: string, known: Remembered): void {
    owner.done.delete(key);
    this.#size--;
    this.#length -= lengthOf(key, known);
    if (owner.done.size > 0) return;
    this.#owners.delete(name);
    this.#length -= name.length;
  }
}

const lengthOf = (key: string, { text, answer }: Remembered): number =>
  key.length + text.length + answer.length;
