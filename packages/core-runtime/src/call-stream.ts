import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { AgentToolStream } from "@harnesskit/protocol/runtime";
import { Feed } from "@harnesskit/wire";
import { measureJson } from "@harnesskit/wire/json";
import { redactedJson } from "./call-result.ts";
import type { CoreContext } from "./core-context.ts";

/** One piece of what a running call streams (section 4.3.2). */
export interface StreamChunk {
  readonly seq: number;
  readonly channel: "stdout" | "stderr" | "log" | "status" | "partial_result";
  readonly data: { readonly text: string } | { readonly json: JsonObject };
  /** The agent said that no chunk follows. */
  readonly done?: true | undefined;
  /** Chunks just before this one that never arrived: the agent skipped their numbers. */
  readonly missing?: number | undefined;
  /** Chunks just before this one that were dropped here, because the reader was too slow. */
  readonly dropped?: number | undefined;
}

const chunkBytes = (data: StreamChunk["data"]): number =>
  "text" in data ? 2 * data.text.length : measureJson(data.json).length;

/**
 * The chunks of one call, for one reader. Unread chunks wait within the limits; then the oldest are dropped, and the
 * next one says how many. The agent is never slowed down: its other calls share the connection.
 */
export class CallStream extends Feed<StreamChunk> {
  readonly #context: CoreContext;
  readonly #waiting: { readonly chunk: StreamChunk; readonly bytes: number }[] = [];
  #bytes = 0;
  #dropped = 0;
  #lastSeq = 0;
  #isDone = false;

  constructor(context: CoreContext) {
    super();
    this.#context = context;
  }

  /**
   * Takes a stream message, without what looks like a secret. Repeated numbers are dropped; after a gap
   * the chunk says how many are missing. Returns false for a chunk after `done`.
   */
  take({ seq, channel, data, done }: AgentToolStream["payload"]): boolean {
    const { redactor, limits } = this.#context;
    if (this.#isDone) return false;
    if (seq <= this.#lastSeq) return true;
    const gap = seq - this.#lastSeq - 1;
    this.#lastSeq = seq;
    this.#isDone = done === true;
    if (this.isEnded || chunkBytes(data) > limits.maxStreamBytes) {
      // Not redacted either: that takes time in proportion to the size, and no reader could get it.
      this.#dropped++;
      return true;
    }
    const kept =
      "json" in data ? { json: redactedJson(data.json, redactor) } : { text: redactor.text(data.text) };
    const bytes = chunkBytes(kept);
    const chunk = { seq, channel, data: kept, done: done || undefined, missing: gap > 0 ? gap : undefined };
    this.#waiting.push({ chunk, bytes });
    this.#bytes += bytes;
    while (this.#waiting.length > limits.maxStreamChunks || this.#bytes > limits.maxStreamBytes) {
      this.#bytes -= this.#waiting.shift()?.bytes ?? 0;
      this.#dropped++;
    }
    this.flush();
    return true;
  }

  protected shift(): StreamChunk | undefined {
    const first = this.#waiting.shift();
    if (!first) return undefined;
    this.#bytes -= first.bytes;
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped === 0 ? first.chunk : { ...first.chunk, dropped };
  }

  protected clear(): void {
    this.#waiting.length = 0;
    this.#bytes = 0;
  }
}
