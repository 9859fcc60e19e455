import type { Clock } from "@harnesskit/wire";
import { LinkedList, ListNode } from "./linked-list.ts";

/** A request that was taken. */
export class Remembered<Work> extends ListNode {
  readonly key: string;
  readonly fingerprint: number;
  /** Settles with the response and never rejects; undefined once there is the text. */
  work: Work | undefined;
  /** The response. */
  text: string | undefined;
  /** When the response was there. An entry without one is in no list, and never given up. */
  doneAt = 0;

  constructor(key: string, fingerprint: number) {
    super();
    this.key = key;
    this.fingerprint = fingerprint;
  }

  /** Of its key, and of its response when that is there. */
  get length(): number {
    return this.key.length + (this.text?.length ?? 0);
  }
}

/** The requests of one owner. */
class Owner<Work> extends ListNode {
  readonly name: string;
  readonly entries = new Map<string, Remembered<Work>>();
  /** Those that are done, in the order in which they were. */
  readonly done = new LinkedList<Remembered<Work>>();

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
 * Responses by owner and request, bounded in number, size and time. They are kept as text, of which a collection of garbage
 * has nothing to follow. When there is no room, whoever adds one loses the oldest of their own, and only where there is none
 * the owner that added nothing for the longest time loses one.
 */
export class RequestMemory<Work> {
  readonly #owners = new Map<string, Owner<Work>>();
  /** In the order of their last request. */
  readonly #order = new LinkedList<Owner<Work>>();
  readonly #options: RequestMemoryOptions;
  #size = 0;
  #length = 0;

  constructor(options: RequestMemoryOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  get(owner: string, key: string): Remembered<Work> | undefined {
    const own = this.#owners.get(owner);
    const entry = own?.entries.get(key);
    if (!own || !entry) return undefined;
    if (!this.#isOver(entry)) return entry;
    this.#remove(own, entry);
    return undefined;
  }

  /** Takes a request whose work has begun. */
  add(owner: string, key: string, fingerprint: number, work: Work): void {
    const own = this.#ownerOf(owner);
    this.#entryOf(own, key, fingerprint).work = work;
    this.#makeRoom(own);
  }

  /** The response is there, of a request that was taken. */
  settle(owner: string, key: string, text: string): void {
    const entry = this.#owners.get(owner)?.entries.get(key);
    if (entry) this.#done(this.#ownerOf(owner), entry, text);
  }

  /** Takes a request that is not known with its response: its work was done at once. */
  addDone(owner: string, key: string, fingerprint: number, text: string): void {
    const own = this.#ownerOf(owner);
    this.#done(own, this.#entryOf(own, key, fingerprint), text);
  }

  /** The request may be made again. */
  forget(owner: string, key: string): void {
    const own = this.#owners.get(owner);
    const entry = own?.entries.get(key);
    if (own && entry) this.#remove(own, entry);
  }

  #done(own: Owner<Work>, entry: Remembered<Work>, text: string): void {
    entry.work = undefined;
    entry.text = text;
    entry.doneAt = this.#options.clock.now();
    this.#length += text.length;
    own.done.push(entry);
    this.#makeRoom(own);
  }

  /** The requests of an owner, who has one now. */
  #ownerOf(name: string): Owner<Work> {
    let own = this.#owners.get(name);
    if (own) this.#order.remove(own);
    else {
      own = new Owner<Work>(name);
      this.#owners.set(name, own);
      this.#length += name.length;
    }
    this.#order.push(own);
    return own;
  }

  #entryOf(own: Owner<Work>, key: string, fingerprint: number): Remembered<Work> {
    const entry = new Remembered<Work>(key, fingerprint);
    own.entries.set(key, entry);
    this.#size++;
    this.#length += key.length;
    return entry;
  }

  #isOver({ text, doneAt }: Remembered<Work>): boolean {
    return text !== undefined && this.#options.clock.now() - doneAt >= this.#options.keepMs;
  }

  get #isFull(): boolean {
    return this.#size > this.#options.maxEntries || this.#length > this.#options.maxLength;
  }

  #makeRoom(own: Owner<Work>): void {
    this.#dropOver(own);
    const longest = this.#order.first;
    if (longest && longest !== own) this.#dropOver(longest);
    while (this.#isFull && own.done.first) this.#remove(own, own.done.first);
    let other = this.#order.first;
    while (this.#isFull && other) {
      const next = other.next as Owner<Work> | undefined;
      while (this.#isFull && other.done.first) this.#remove(other, other.done.first);
      other = next;
    }
  }

  #dropOver(own: Owner<Work>): void {
    while (own.done.first && this.#isOver(own.done.first)) this.#remove(own, own.done.first);
  }

  #remove(own: Owner<Work>, entry: Remembered<Work>): void {
    own.entries.delete(entry.key);
    if (entry.text !== undefined) own.done.remove(entry);
    this.#size--;
    this.#length -= entry.length;
    if (own.entries.size > 0) return;
    this.#owners.delete(own.name);
    this.#length -= own.name.length;
    this.#order.remove(own);
  }
}
