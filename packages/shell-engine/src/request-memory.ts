import type { Clock } from "@harnesskit/wire";
import { LinkedList, ListNode } from "./linked-list.ts";

/** What is known of a request that was taken. */
export interface Remembered<T> {
  readonly fingerprint: string;
  /** Settles with the response; never rejects. */
  readonly work: Promise<T>;
}

class Entry<T> extends ListNode {
  readonly key: string;
  readonly remembered: Remembered<T>;
  /** Of its key, and of its response when that is there. */
  length: number;
  /** Undefined while the work is under way; such an entry is in no list, and never given up. */
  doneAt: number | undefined;

  constructor(key: string, remembered: Remembered<T>) {
    super();
    this.key = key;
    this.remembered = remembered;
    this.length = key.length;
  }
}

/** The requests of one owner. */
class Owner<T> extends ListNode {
  readonly name: string;
  readonly entries = new Map<string, Entry<T>>();
  /** Those that are done, in the order in which they were. */
  readonly done = new LinkedList<Entry<T>>();

  constructor(name: string) {
    super();
    this.name = name;
  }
}

export interface RequestMemoryOptions {
  readonly maxEntries: number;
  readonly maxLength: number;
  readonly keepMs: number;
  readonly clock: Clock;
}

/**
 * Responses by owner and request, bounded in number, size and time. When there is no room, whoever adds one loses the
 * oldest of their own, and only where there is none the owner that added nothing for the longest time loses one.
 */
export class RequestMemory<T> {
  readonly #owners = new Map<string, Owner<T>>();
  /** In the order of their last request. */
  readonly #order = new LinkedList<Owner<T>>();
  readonly #options: RequestMemoryOptions;
  #size = 0;
  #length = 0;

  constructor(options: RequestMemoryOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  get(owner: string, key: string): Remembered<T> | undefined {
    const own = this.#owners.get(owner);
    const entry = own?.entries.get(key);
    if (!own || !entry) return undefined;
    if (!this.#isOver(entry)) return entry.remembered;
    this.#remove(own, entry);
    return undefined;
  }

  /** Takes a request whose work has begun. */
  add(owner: string, key: string, remembered: Remembered<T>): void {
    let own = this.#owners.get(owner);
    if (own) this.#order.remove(own);
    else {
      own = new Owner<T>(owner);
      this.#owners.set(owner, own);
      this.#length += owner.length;
    }
    this.#order.push(own);
    const entry = new Entry(key, remembered);
    own.entries.set(key, entry);
    this.#size++;
    this.#length += entry.length;
    this.#makeRoom(own);
  }

  /** The response is there, with about so many characters. */
  settle(owner: string, key: string, length: number): void {
    const own = this.#owners.get(owner);
    const entry = own?.entries.get(key);
    if (!own || !entry) return;
    entry.doneAt = this.#options.clock.now();
    entry.length += length;
    this.#length += length;
    own.done.push(entry);
    this.#makeRoom(own);
  }

  /** The request may be made again. */
  forget(owner: string, key: string): void {
    const own = this.#owners.get(owner);
    const entry = own?.entries.get(key);
    if (own && entry) this.#remove(own, entry);
  }

  #isOver({ doneAt }: Entry<T>): boolean {
    return doneAt !== undefined && this.#options.clock.now() - doneAt >= this.#options.keepMs;
  }

  get #isFull(): boolean {
    return this.#size > this.#options.maxEntries || this.#length > this.#options.maxLength;
  }

  #makeRoom(own: Owner<T>): void {
    this.#dropOver(own);
    const longest = this.#order.first;
    if (longest && longest !== own) this.#dropOver(longest);
    while (this.#isFull && own.done.first) this.#remove(own, own.done.first);
    let other = this.#order.first;
    while (this.#isFull && other) {
      const next = other.next as Owner<T> | undefined;
      while (this.#isFull && other.done.first) this.#remove(other, other.done.first);
      other = next;
    }
  }

  #dropOver(own: Owner<T>): void {
    while (own.done.first && this.#isOver(own.done.first)) this.#remove(own, own.done.first);
  }

  #remove(own: Owner<T>, entry: Entry<T>): void {
    own.entries.delete(entry.key);
    if (entry.doneAt !== undefined) own.done.remove(entry);
    this.#size--;
    this.#length -= entry.length;
    if (own.entries.size > 0) return;
    this.#owners.delete(own.name);
    this.#length -= own.name.length;
    this.#order.remove(own);
  }
}
