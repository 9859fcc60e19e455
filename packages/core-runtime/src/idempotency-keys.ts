import type { Actor, Caller } from "@harnesskit/protocol/runtime";
import type { Clock } from "@harnesskit/wire";
import { measureJson } from "@harnesskit/wire/json";
import type { Call } from "./call.ts";
import type { CallResult } from "./call-result.ts";
import { canonicalDigest } from "./canonical-digest.ts";
import type { CoreLimits } from "./core-limits.ts";

interface KeyEntry {
  readonly inputDigest: string;
  /** The call that runs, or what it ended with. */
  known: Call | CallResult;
  bytes: number;
  /** Infinite while the call runs. */
  expiresAt: number;
}

/**
 * Which calls were made under which keys, each for its tool, caller and actor: a key of another caller means another
 * call. A call that runs is remembered while it runs; a result while it is young and there is room. Only what the agent itself reported as final is remembered: success, or a
 * failure that is not retryable. After anything else the key is free, so that the next call with it is a real one.
 */
export class IdempotencyKeys {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #limits: CoreLimits;
  readonly #entries = new Map<string, KeyEntry>();
  #bytes = 0;

  constructor(clock: Clock, ttlMs: number, limits: CoreLimits) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#limits = limits;
  }

  /**
   * The call or result that stands for this call, `conflict` when its key was used with another input, or `incomparable`
   * for an input without a canonical form, such as one with half a surrogate pair. Undefined when it is to be made, under
   * its key from now on.
   */
  claim(call: Call): Call | CallResult | "conflict" | "incomparable" | undefined {
    const { idempotencyKey } = call.options;
    if (idempotencyKey === undefined) return undefined;
    const { caller, actor } = call.options;
    const name = JSON.stringify([call.toolId, partyOf(caller), partyOf(actor), idempotencyKey]);
    const inputDigest = canonicalDigest(call.input);
    if (inputDigest === undefined) return "incomparable";
    const entry = this.#entries.get(name);
    if (entry && this.#clock.elapsedMs() < entry.expiresAt) {
      return entry.inputDigest === inputDigest ? entry.known : "conflict";
    }
    if (entry) this.#forget(name, entry);
    const made: KeyEntry = { inputDigest, known: call, bytes: 0, expiresAt: Number.POSITIVE_INFINITY };
    this.#entries.set(name, made);
    call.onOutcome((result, fromAgent) => this.#ended(name, made, fromAgent ? result : undefined));
    return undefined;
  }

  #ended(name: string, entry: KeyEntry, result: CallResult | undefined): void {
    this.#forget(name, entry);
    if (!result || !isRememberable(result)) return;
    entry.known = result;
    entry.bytes = measureJson(result).length;
    entry.expiresAt = this.#clock.elapsedMs() + this.#ttlMs;
    this.#bytes += entry.bytes;
    this.#entries.set(name, entry);
    this.#makeRoom();
  }

  /** The oldest results come first. */
  #makeRoom(): void {
    const { maxIdempotencyKeys, maxIdempotencyBytes } = this.#limits;
    for (const [name, entry] of this.#entries) {
      if (entry.expiresAt === Number.POSITIVE_INFINITY) continue;
      const isOver = this.#entries.size > maxIdempotencyKeys || this.#bytes > maxIdempotencyBytes;
      if (!isOver && this.#clock.elapsedMs() < entry.expiresAt) return;
      this.#forget(name, entry);
    }
  }

  #forget(name: string, entry: KeyEntry): void {
    if (this.#entries.get(name) !== entry) return;
    this.#entries.delete(name);
    this.#bytes -= entry.bytes;
  }
}

const partyOf = (party: Caller | Actor | undefined) => party && [party.type, party.id];

const isRememberable = (result: CallResult): boolean =>
  result.status === "succeeded" || (result.status === "failed" && result.error.retryable !== true);
