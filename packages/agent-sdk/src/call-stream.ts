import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { AgentToolStream } from "@harnesskit/protocol/runtime";
import { InvalidArgumentError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import type { AgentLimits } from "./limits.ts";
import { type Outbox, toMessage } from "./outbox.ts";
import { writeJson } from "./output.ts";
import type { SessionCalls } from "./session-calls.ts";
import type { ToolCall } from "./tool-call.ts";

export type StreamPayload = AgentToolStream["payload"];
export type TextChannel = "stdout" | "stderr" | "log" | "status";

type Content =
  | { readonly channel: TextChannel; readonly data: { readonly text: string }; readonly done?: true }
  | { readonly channel: "partial_result"; readonly data: { readonly json: JsonObject } };

/** Counted for each message beside its text, so that many short ones are bounded too. */
const messageBytes = 64;
const nothing = Promise.resolve();

/** The stream messages of one call: in order, numbered from 1 as they leave, bounded. */
export class CallStream {
  readonly #call: ToolCall;
  readonly #outbox: Outbox;
  readonly #limits: AgentLimits;
  readonly #maxChunkBytes: number;
  #seq = 0;
  #streamedBytes = 0;
  #queuedBytes = 0;
  /** Dropped since the last mark. */
  #unmarked = 0;
  #state: "open" | "full" | "ended" = "open";
  dropped = 0;
  droppedBytes = 0;

  constructor(call: ToolCall, calls: SessionCalls, limits: AgentLimits) {
    this.#call = call;
    this.#outbox = calls.outbox;
    this.#limits = limits;
    this.#maxChunkBytes = calls.maxChunkBytes;
  }

  /** Messages that were handed over. */
  get sent(): number {
    return this.#seq;
  }

  text(channel: TextChannel, text: string): Promise<void> {
    if (typeof text !== "string") throw new InvalidArgumentError(`${channel} takes a string`);
    if (this.#state !== "open") return this.#refuse(Buffer.byteLength(text));
    if (text === "") return nothing;
    for (const piece of splitText(text, this.#maxChunkBytes)) {
      this.#add({ channel, data: { text: piece } }, Buffer.byteLength(piece));
    }
    return this.#outbox.isFree ? nothing : this.#outbox.room();
  }

  partial(json: object): Promise<void> {
    const { copy, bytes } = writeJson(json);
    if (!isObject(copy)) throw new InvalidArgumentError("partialResult takes a JSON object");
    if (this.#state !== "open") return this.#refuse(bytes);
    if (bytes > this.#maxChunkBytes) this.#drop(bytes);
    else this.#add({ channel: "partial_result", data: { json: copy as JsonObject } }, bytes);
    return this.#outbox.isFree ? nothing : this.#outbox.room();
  }

  /** Takes nothing more. A tool that goes on writing yields to the others. */
  #refuse(bytes: number): Promise<void> {
    if (this.#state === "full") this.#drop(bytes);
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** The call is over: drops are marked, and nothing more is taken. */
  end(): void {
    if (this.#state === "open") this.#mark();
    this.#state = "ended";
  }

  #add(content: Content, bytes: number): void {
    if (this.#state === "full") {
      this.#drop(bytes);
      return;
    }
    this.#streamedBytes += bytes + messageBytes;
    if (this.#streamedBytes > this.#limits.maxStreamBytes) {
      this.#mark();
      this.#state = "full";
      this.#drop(bytes);
      const text = `[the stream is cut here: it exceeds ${this.#limits.maxStreamBytes} bytes]`;
      this.#push({ channel: "log", data: { text }, done: true }, text.length);
      return;
    }
    if (this.#outbox.isFree) {
      this.#mark();
      this.#push(content, bytes);
      return;
    }
    if (this.#queuedBytes + bytes + messageBytes > this.#limits.maxStreamQueueBytes) this.#drop(bytes);
    else this.#push(content, bytes);
  }

  #push(content: Content, bytes: number): void {
    const cost = bytes + messageBytes;
    this.#queuedBytes += cost;
    this.#outbox.push({
      bytes: cost,
      isStream: true,
      take: () => {
        this.#queuedBytes -= cost;
        const { payload, origin } = this.#call;
        const chunk: StreamPayload = { call_id: payload.call_id, seq: ++this.#seq, ...content };
        return toMessage(this.#outbox.clock.now(), "agent.tool.stream", chunk, { origin });
      },
    });
  }

  #drop(bytes: number): void {
    this.dropped++;
    this.droppedBytes += bytes;
    if (this.#state === "open") this.#unmarked++;
  }

  /** Marks where messages are missing. */
  #mark(): void {
    if (this.#unmarked === 0) return;
    const text = `[${this.#unmarked} stream messages were dropped here]`;
    this.#unmarked = 0;
    this.#push({ channel: "log", data: { text } }, text.length);
  }
}

/** The string in pieces of at most `maxBytes` bytes of UTF-8 each (at least 4), cut between characters. */
export function* splitText(text: string, maxBytes: number): Generator<string> {
  if (text.length * 3 <= maxBytes) {
    yield text;
    return;
  }
  let from = 0;
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at) ?? 0;
    const width = point > 0xffff ? 4 : point > 0x7ff ? 3 : point > 0x7f ? 2 : 1;
    if (bytes + width > maxBytes && at > from) {
      yield text.slice(from, at);
      from = at;
      bytes = 0;
    }
    bytes += width;
    if (width === 4) at++;
  }
  yield text.slice(from);
}
