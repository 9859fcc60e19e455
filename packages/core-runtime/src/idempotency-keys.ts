import { type Actor, type Caller, RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import type { Clock } from "@harnesskit/wire";
import { measureJson } from "@harnesskit/wire/json";
import type { Call } from "./call.ts";
import { type CallResult, coreResult } from "./call-result.ts";
import { canonicalDigest } from "./canonical-digest.ts";

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
  readonly #maxBytes: number;
  readonly #entries = new Map<string, KeyEntry>();
  #bytes = 0;

  constructor(clock: Clock, ttlMs: number, maxBytes: number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#maxBytes = maxBytes;
  }

  /**
   * The call whose result this call gets, or how it ends, also where its key was used with another input. Undefined when it
   * is to be made, under its key from now on.
   */
  claim(call: Call): Call | CallResult | undefined {
    const { idempotencyKey, caller, actor } = call.options;
    if (idempotencyKey === undefined) return undefined;
    const inputDigest = canonicalDigest(call.input);
    if (inputDigest === undefined) {
      const message = "the input of a call with an idempotency key must be valid Unicode";
      return coreResult(RuntimeErrorCode.InvalidInput, message);
    }
    const name = JSON.stringify([call.toolId, partyOf(caller), partyOf(actor), idempotencyKey]);
    const entry = this.#entries.get(name);
    if (entry && this.#clock.elapsedMs() < entry.expiresAt) {
      if (entry.inputDigest === inputDigest) return entry.known;
      const message = "the idempotency key was used with another input";
      return coreResult(RuntimeErrorCode.IdempotencyConflict, message);
    }
    this.#forget(name);
    this.#entries.set(name, { inputDigest, known: call, bytes: 0, expiresAt: Number.POSITIVE_INFINITY });
    void call.result.then((result) => {
      this.#forget(name);
      if (call.isAnswered && isFinal(result)) this.#remember(name, inputDigest, result);
    });
    return undefined;
  }

  /** The oldest results are forgotten first. */
  #remember(name: string, inputDigest: string, result: CallResult): void {
    const bytes = name.length + measureJson(result).length;
    const nowMs = this.#clock.elapsedMs();
    this.#entries.set(name, { inputDigest, known: result, bytes, expiresAt: nowMs + this.#ttlMs });
    this.#bytes += bytes;
    for (const [oldest, { expiresAt }] of this.#entries) {
      if (this.#bytes <= this.#maxBytes && nowMs < expiresAt) return;
      if (expiresAt !== Number.POSITIVE_INFINITY) this.#forget(oldest);
    }
  }

  #forget(name: string): void {
    this.#bytes -= this.#entries.get(name)?.bytes ?? 0;
    this.#entries.delete(name);
  }
}

const partyOf = (party: Caller | Actor | undefined) => party && [party.type, party.id];

const isFinal = (result: CallResult): boolean =>
  result.status === "succeeded" || (result.status === "failed" && result.error.retryable !== true);
