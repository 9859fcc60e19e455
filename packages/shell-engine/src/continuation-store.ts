import type { JsonValue } from "@harnesskit/protocol/envelope";
import { BufferFullError, type Clock } from "@harnesskit/wire";
import { RunData, type RunDataLimits } from "./run-data.ts";

/** What came of an attempt to use a continuation. */
export type Claim =
  | { readonly status: "claimed"; readonly data?: JsonValue | undefined }
  | { readonly status: "used" };

/**
 * Which continuations were used, and what runs left for them. One that outlives the process makes continuations outlive it
 * too, together with a `continuationKey` of one's own.
 */
export interface ContinuationStore {
  /** Keeps what a run left, until it is claimed or expires. The owner is one text for the user whose run it is. */
  keep(id: string, data: JsonValue, expiresAtMs: number, owner: string): void | Promise<void>;
  /** Uses a continuation: of any number of attempts exactly one is `claimed`. */
  claim(id: string, expiresAtMs: number): Claim | Promise<Claim>;
  /** Takes a claim back: the run failed in a way that can be tried again. */
  release(id: string): void | Promise<void>;
}

interface StoreLimits extends RunDataLimits {
  readonly maxUsedContinuations: number;
}

/** Keeps everything in this process, within limits. */
export class MemoryContinuationStore implements ContinuationStore {
  /** When each one that was used expires, in the order of their use. */
  readonly #used = new Map<string, number>();
  readonly #data: RunData;
  readonly #limits: StoreLimits;
  readonly #clock: Clock;
  /** No continuation that is known to be used expires before. */
  #firstExpiryMs = Number.POSITIVE_INFINITY;
  /** What expired until then was forgotten: a clock that goes back does not make it good again. */
  #forgottenUntilMs = Number.NEGATIVE_INFINITY;

  constructor(limits: StoreLimits, clock: Clock) {
    this.#limits = limits;
    this.#data = new RunData(limits);
    this.#clock = clock;
  }

  keep(id: string, data: JsonValue, expiresAtMs: number, owner: string): void {
    this.#data.keep(id, data, expiresAtMs, owner, this.#clock.now());
  }

  /** Throws `buffer_full` where to know one more would mean to forget one that could then be used again. */
  claim(id: string, expiresAtMs: number): Claim {
    if (this.#used.has(id) || expiresAtMs <= this.#forgottenUntilMs) return { status: "used" };
    if (this.#used.size >= this.#limits.maxUsedContinuations) this.#sweep();
    this.#used.set(id, expiresAtMs);
    this.#firstExpiryMs = Math.min(this.#firstExpiryMs, expiresAtMs);
    return { status: "claimed", data: this.#data.take(id) };
  }

  release(id: string): void {
    this.#used.delete(id);
    this.#data.putBack(id);
  }

  #sweep(): void {
    const now = this.#clock.now();
    if (this.#firstExpiryMs <= now) {
      this.#firstExpiryMs = Number.POSITIVE_INFINITY;
      this.#forgottenUntilMs = now;
      for (const [id, expiresAtMs] of this.#used) {
        if (expiresAtMs > now) this.#firstExpiryMs = Math.min(this.#firstExpiryMs, expiresAtMs);
        else {
          this.#used.delete(id);
          this.#data.drop(id);
        }
      }
    }
    const { maxUsedContinuations } = this.#limits;
    if (this.#used.size >= maxUsedContinuations) {
      throw new BufferFullError("maxUsedContinuations", maxUsedContinuations);
    }
  }
}
