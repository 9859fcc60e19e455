import type { JsonValue } from "@harnesskit/protocol/envelope";
import { BufferFullError, type Clock, jsonLength } from "@harnesskit/wire";

/** What came of an attempt to use a continuation. */
export type Claim =
  | { readonly status: "claimed"; readonly data?: JsonValue | undefined }
  | { readonly status: "used" };

/**
 * Which continuations were used, and what runs left for them. One that outlives the process makes continuations outlive it
 * too, together with a `continuationKey` of one's own.
 */
export interface ContinuationStore {
  /** Keeps what a run left, until it is claimed or expires. */
  keep(id: string, data: JsonValue, expiresAtMs: number): void | Promise<void>;
  /** Uses a continuation: of any number of attempts exactly one is `claimed`. */
  claim(id: string, expiresAtMs: number): Claim | Promise<Claim>;
  /** Takes a claim back: the run failed in a way that can be tried again. */
  release(id: string): void | Promise<void>;
}

interface Kept {
  readonly data: JsonValue;
  readonly expiresAtMs: number;
  readonly length: number;
}

interface StoreLimits {
  readonly maxUsedContinuations: number;
  readonly maxRuns: number;
  readonly maxRunDataLength: number;
}

/** Keeps everything in this process, within limits. */
export class MemoryContinuationStore implements ContinuationStore {
  /** When each one that was used expires, in the order of their use. */
  readonly #used = new Map<string, number>();
  readonly #kept = new Map<string, Kept>();
  readonly #limits: StoreLimits;
  readonly #clock: Clock;
  #length = 0;

  constructor(limits: StoreLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  keep(id: string, data: JsonValue, expiresAtMs: number): void {
    const length = jsonLength(data);
    this.#kept.set(id, { data, expiresAtMs, length });
    this.#length += length;
    const { maxRuns, maxRunDataLength } = this.#limits;
    const now = this.#clock.now();
    for (const [oldest, kept] of this.#kept) {
      const isFull = this.#kept.size > maxRuns || this.#length > maxRunDataLength;
      if (!isFull && kept.expiresAtMs > now) return;
      this.#drop(oldest, kept);
    }
  }

  /** Throws `buffer_full` where to know one more would mean to forget one that could then be used again. */
  claim(id: string, expiresAtMs: number): Claim {
    if (this.#used.has(id)) return { status: "used" };
    if (this.#used.size >= this.#limits.maxUsedContinuations) this.#sweep();
    this.#used.set(id, expiresAtMs);
    return { status: "claimed", data: this.#kept.get(id)?.data };
  }

  release(id: string): void {
    this.#used.delete(id);
  }

  #sweep(): void {
    const now = this.#clock.now();
    for (const [id, expiresAtMs] of this.#used) {
      if (expiresAtMs > now) continue;
      this.#used.delete(id);
      const kept = this.#kept.get(id);
      if (kept) this.#drop(id, kept);
    }
    const { maxUsedContinuations } = this.#limits;
    if (this.#used.size >= maxUsedContinuations) {
      throw new BufferFullError("maxUsedContinuations", maxUsedContinuations);
    }
  }

  #drop(id: string, { length }: Kept): void {
    if (this.#kept.delete(id)) this.#length -= length;
  }
}
