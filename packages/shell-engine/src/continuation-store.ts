import type { JsonValue } from "@harnesskit/protocol/envelope";
import { BufferFullError, type Clock } from "@harnesskit/wire";
import type { ShellEngineLimits } from "./limits.ts";

/** What came of an attempt to use a continuation. */
export type ContinuationClaim =
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
  claim(id: string, expiresAtMs: number): ContinuationClaim | Promise<ContinuationClaim>;
  /** Takes a claim back: the run failed in a way that can be tried again. */
  release(id: string): void | Promise<void>;
}

type StoreLimits = Pick<ShellEngineLimits, "maxUsedContinuations" | "maxRuns" | "maxRunDataLength">;

/** What a run left for its continuation. */
interface Run {
  /** The data as JSON. */
  readonly text: string;
  readonly expiresAtMs: number;
}

/**
 * Keeps everything in this process, within limits. Data of a continuation that was used stay as long as there is room, because
 * its use may be taken back.
 */
export class MemoryContinuationStore implements ContinuationStore {
  /** When each one that was used expires, in the order of their use. */
  readonly #used = new Map<string, number>();
  /** In the order in which they began to wait. */
  readonly #runs = new Map<string, Run>();
  readonly #limits: StoreLimits;
  readonly #clock: Clock;
  /** Of the data of all runs. */
  #length = 0;
  /** No continuation that is known to be used expires before. */
  #firstExpiryMs = Number.POSITIVE_INFINITY;
  /** What expired until then was forgotten: a clock that goes back does not make it valid again. */
  #forgottenUntilMs = Number.NEGATIVE_INFINITY;

  constructor(limits: StoreLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  keep(id: string, data: JsonValue, expiresAtMs: number): void {
    const text = JSON.stringify(data);
    this.#runs.set(id, { text, expiresAtMs });
    this.#length += text.length;
    const now = this.#clock.now();
    for (const [oldest, run] of this.#runs) {
      if (run.expiresAtMs > now) break;
      this.#drop(oldest);
    }
    const { maxRuns, maxRunDataLength } = this.#limits;
    while (this.#runs.size > maxRuns || this.#length > maxRunDataLength) {
      const ids = [...this.#runs.keys()];
      this.#drop(ids.find((other) => this.#used.has(other)) ?? ids[0] ?? "");
    }
  }

  /** Throws `buffer_full` where to know one more would mean to forget one that could then be used again. */
  claim(id: string, expiresAtMs: number): ContinuationClaim {
    if (this.#used.has(id) || expiresAtMs <= this.#forgottenUntilMs) return { status: "used" };
    if (this.#used.size >= this.#limits.maxUsedContinuations) this.#sweep();
    this.#used.set(id, expiresAtMs);
    this.#firstExpiryMs = Math.min(this.#firstExpiryMs, expiresAtMs);
    const text = this.#runs.get(id)?.text;
    return { status: "claimed", data: text === undefined ? undefined : (JSON.parse(text) as JsonValue) };
  }

  release(id: string): void {
    this.#used.delete(id);
  }

  #drop(id: string): void {
    this.#length -= this.#runs.get(id)?.text.length ?? 0;
    this.#runs.delete(id);
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
          this.#drop(id);
        }
      }
    }
    const { maxUsedContinuations } = this.#limits;
    if (this.#used.size >= maxUsedContinuations) {
      throw new BufferFullError("maxUsedContinuations", maxUsedContinuations);
    }
  }
}
