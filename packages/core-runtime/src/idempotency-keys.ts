import { createHash } from "node:crypto";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { type Clock, canonicalJson } from "@harnesskit/wire";
import type { Call } from "./call.ts";
import type { CallResult } from "./call-result.ts";
import { measureJson } from "./measure-json.ts";

/** What is known about a key. */
export type KeyLookup =
  | { readonly kind: "new" }
  | { readonly kind: "conflict" }
  | { readonly kind: "running"; readonly call: Call }
  | { readonly kind: "done"; readonly result: CallResult };

interface KeyEntry {
  readonly inputDigest: string;
  call: Call | undefined;
  result: CallResult | undefined;
  bytes: number;
  expiresAt: number;
}

const digestOf = (input: JsonObject): string =>
  createHash("sha256").update(canonicalJson(input)).digest("base64url");

/**
 * Which calls were made under which keys, each for its tool. A call that runs is remembered while it runs; a result
 * while it is young and there is room. Only what the agent itself reported as an end is remembered: it succeeded, or it
 * failed and said that trying again is of no use. After anything else the key is free, so that the next call with it is
 * a real one.
 */
export class IdempotencyKeys {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #maxKeys: number;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, KeyEntry>();
  #bytes = 0;

  constructor(options: {
    readonly clock: Clock;
    readonly ttlMs: number;
    readonly maxKeys: number;
    readonly maxBytes: number;
  }) {
    this.#clock = options.clock;
    this.#ttlMs = options.ttlMs;
    this.#maxKeys = options.maxKeys;
    this.#maxBytes = options.maxBytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  find(key: string, toolId: string, input: JsonObject): KeyLookup {
    const name = nameOf(key, toolId);
    const entry = this.#entries.get(name);
    if (!entry) return { kind: "new" };
    if (!entry.call && this.#clock.now() >= entry.expiresAt) {
      this.#forget(name, entry);
      return { kind: "new" };
    }
    if (entry.inputDigest !== digestOf(input)) return { kind: "conflict" };
    if (entry.call) return { kind: "running", call: entry.call };
    return entry.result ? { kind: "done", result: entry.result } : { kind: "new" };
  }

  /** The call runs under its key from now on. */
  begin(key: string, call: Call): void {
    const name = nameOf(key, call.toolId);
    const entry: KeyEntry = {
      inputDigest: digestOf(call.input),
      call,
      result: undefined,
      bytes: 0,
      expiresAt: 0,
    };
    this.#entries.set(name, entry);
    call.onOutcome = (result, fromAgent) => this.#ended(name, entry, result, fromAgent);
  }

  #ended(name: string, entry: KeyEntry, result: CallResult, fromAgent: boolean): void {
    if (!fromAgent || !isFinal(result)) {
      this.#forget(name, entry);
      return;
    }
    entry.call = undefined;
    entry.result = result;
    entry.bytes = measureJson(result)?.bytes ?? 0;
    entry.expiresAt = this.#clock.now() + this.#ttlMs;
    this.#bytes += entry.bytes;
    // What ended last comes last, so that the oldest results come first.
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    this.#makeRoom();
  }

  #makeRoom(): void {
    for (const [name, entry] of this.#entries) {
      const expired = this.#clock.now() >= entry.expiresAt;
      if (!expired && this.#entries.size <= this.#maxKeys && this.#bytes <= this.#maxBytes) return;
      if (!entry.call) this.#forget(name, entry);
    }
  }

  #forget(name: string, entry: KeyEntry): void {
    if (this.#entries.get(name) !== entry) return;
    this.#entries.delete(name);
    this.#bytes -= entry.bytes;
  }
}

const nameOf = (key: string, toolId: string): string => `${toolId} ${key}`;

const isFinal = (result: CallResult): boolean =>
  result.status === "succeeded" || (result.status === "failed" && result.error.retryable !== true);
