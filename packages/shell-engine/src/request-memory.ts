import type { Clock } from "@harnesskit/wire";

/** A request that was accepted. */
export interface Remembered<Work> {
  /** The request as JSON. */
  readonly asked: string;
  /** Settles with the response and never rejects; undefined once the serialized response is there. */
  readonly work?: Work;
  /** The response. */
  readonly text?: string;
}

/** A response that is there, and since when. */
interface Done {
  readonly asked: string;
  readonly text: string;
  readonly doneAt: number;
}

/** The requests of one owner. */
class Owner<Work> {
  readonly running = new Map<string, { readonly asked: string; readonly work: Work }>();
  /** In the order in which the responses came. */
  readonly done = new Map<string, Done>();
  /** Kept, because a new iterator walks over the places of all responses that have left. */
  readonly #oldestFirst = this.done.entries();
  #oldest: [string, Done] | undefined;

  constructor(readonly name: string) {}

  /** The response that came first, with its key. */
  get oldest(): [string, Done] | undefined {
    if (this.done.size === 0) {
      this.#oldest = undefined;
      return undefined;
    }
    while (this.#oldest === undefined || this.done.get(this.#oldest[0]) !== this.#oldest[1])
      this.#oldest = this.#oldestFirst.next().value;
    return this.#oldest;
  }
}

export interface RequestMemoryOptions {
  readonly maxEntries: number;
  readonly maxLength: number;
  readonly keepMs: number;
  readonly clock: Clock;
}

/**
 * Requests and their responses by owner, bounded in number, size and time. When there is no room, the owner that adds one loses the
 * oldest of its own, and only without any the owner that added nothing for the longest time loses one. Work that has not
 * ended is never dropped.
 */
export class RequestMemory<Work> {
  /** In the order of their last request. */
  readonly #owners = new Map<string, Owner<Work>>();
  readonly #options: RequestMemoryOptions;
  #size = 0;
  #length = 0;

  constructor(options: RequestMemoryOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  get(name: string, key: string): Remembered<Work> | undefined {
    const owner = this.#owners.get(name);
    const done = owner?.done.get(key);
    if (!owner || !done) return owner?.running.get(key);
    if (!this.#isOver(done)) return done;
    this.#remove(owner, key);
    return undefined;
  }

  /** Adds a request whose work has begun. Its text counts when its response is there: until then the work holds it. */
  add(name: string, key: string, asked: string, work: Work): void {
    const owner = this.#touch(name);
    owner.running.set(key, { asked, work });
    this.#size++;
    this.#length += key.length;
    this.#makeRoom(owner);
  }

  /** The response of a request that was added is there. */
  settle(name: string, key: string, text: string): void {
    const running = this.#owners.get(name)?.running.get(key);
    if (!running) return;
    const owner = this.#touch(name);
    owner.running.delete(key);
    owner.done.set(key, { asked: running.asked, text, doneAt: this.#options.clock.elapsedMs() });
    this.#length += running.asked.length + text.length;
    this.#makeRoom(owner);
  }

  /** The request may be made again. */
  forget(name: string, key: string): void {
    const owner = this.#owners.get(name);
    if (owner) this.#remove(owner, key);
  }

  /** The requests of an owner, which has one now. */
  #touch(name: string): Owner<Work> {
    const known = this.#owners.get(name);
    if (known && this.#owners.size === 1) return known;
    const owner = known ?? new Owner<Work>(name);
    if (!this.#owners.delete(name)) this.#length += name.length;
    this.#owners.set(name, owner);
    return owner;
  }

  #isOver({ doneAt }: Done): boolean {
    return this.#options.clock.elapsedMs() - doneAt >= this.#options.keepMs;
  }

  get #isFull(): boolean {
    return this.#size > this.#options.maxEntries || this.#length > this.#options.maxLength;
  }

  #makeRoom(own: Owner<Work>): void {
    this.#drop(own, (done) => this.#isOver(done));
    const [longest] = this.#owners.values();
    if (longest && longest !== own) this.#drop(longest, (done) => this.#isOver(done));
    this.#drop(own, () => this.#isFull);
    if (!this.#isFull) return;
    for (const other of this.#owners.values()) {
      this.#drop(other, () => this.#isFull);
      if (!this.#isFull) return;
    }
  }

  /** Drops the oldest responses of an owner as long as `isToGo` says so. */
  #drop(owner: Owner<Work>, isToGo: (done: Done) => boolean): void {
    for (let next = owner.oldest; next && isToGo(next[1]); next = owner.oldest) this.#remove(owner, next[0]);
  }

  #remove(owner: Owner<Work>, key: string): void {
    const done = owner.done.get(key);
    if (!done && !owner.running.has(key)) return;
    owner.done.delete(key);
    owner.running.delete(key);
    this.#size--;
    this.#length -= key.length + (done ? done.asked.length + done.text.length : 0);
    if (owner.done.size > 0 || owner.running.size > 0) return;
    this.#owners.delete(owner.name);
    this.#length -= owner.name.length;
  }
}
