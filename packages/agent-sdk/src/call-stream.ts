import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { AgentToolStream } from "@harnesskit/protocol/runtime";
import { InvalidArgumentError } from "@harnesskit/wire";
import { isJsonObject, writeJson } from "./json-size.ts";
import { type AgentLimits, maxPayloadDepth } from "./limits.ts";
import type { Outgoing } from "./outbox.ts";
import { splitText } from "./split-text.ts";

export type StreamPayload = AgentToolStream["payload"];
export type TextChannel = "stdout" | "stderr" | "log" | "status";

/** Where stream messages go. */
export interface StreamSink {
  /** False while messages have to wait. */
  readonly isFree: boolean;
  push(message: Outgoing): void;
  /** Settles when there is room. Never rejects. */
  room(): Promise<void>;
}

export interface CallStreamOptions {
  readonly callId: string;
  readonly sink: StreamSink;
  readonly limits: AgentLimits;
  /** The most bytes of text that one message may have in its frame. */
  readonly maxChunkBytes: number;
  readonly toMessage: (payload: StreamPayload) => object;
}

type Content =
  | { readonly channel: TextChannel; readonly data: { readonly text: string }; readonly done?: true }
  | { readonly channel: "partial_result"; readonly data: { readonly json: JsonObject } };

/** What a message costs beside its text, so that many short ones are bounded too. */
const messageBytes = 64;
const nothing = Promise.resolve();

/** What one call says before its result: in order, numbered from 1 as it leaves, bounded. */
export class CallStream {
  readonly #options: CallStreamOptions;
  readonly #sink: StreamSink;
  readonly #limits: AgentLimits;
  readonly #maxChunkBytes: number;
  #seq = 0;
  #streamedBytes = 0;
  #queuedBytes = 0;
  /** The status that waits; a later one takes its place. */
  #waitingStatus: { content: Content } | undefined;
  /** Dropped for want of room since the last mark. */
  #unmarked = 0;
  #state: "open" | "full" | "ended" = "open";
  dropped = 0;
  droppedBytes = 0;

  constructor(options: CallStreamOptions) {
    this.#options = options;
    this.#sink = options.sink;
    this.#limits = options.limits;
    this.#maxChunkBytes = Math.max(4, Math.min(options.limits.maxStreamChunkBytes, options.maxChunkBytes));
  }

  /** Messages that were handed over. */
  get sent(): number {
    return this.#seq;
  }

  text(channel: TextChannel, text: string): Promise<void> {
    if (typeof text !== "string") throw new InvalidArgumentError(`${channel} takes a text`);
    if (this.#state !== "open") return this.#refuse(Buffer.byteLength(text));
    if (text === "") return nothing;
    for (const piece of splitText(text, this.#maxChunkBytes)) {
      this.#add({ channel, data: { text: piece } }, Buffer.byteLength(piece));
    }
    return this.#sink.isFree ? nothing : this.#sink.room();
  }

  partial(json: object): Promise<void> {
    const { copy, bytes } = writeJson(json, maxPayloadDepth - 1);
    if (!isJsonObject(copy)) throw new InvalidArgumentError("partialResult takes a JSON object");
    if (this.#state !== "open") return this.#refuse(bytes);
    if (bytes > this.#maxChunkBytes) this.#drop(bytes);
    else this.#add({ channel: "partial_result", data: { json: copy } }, bytes);
    return this.#sink.isFree ? nothing : this.#sink.room();
  }

  /** Nothing more is taken. A tool that goes on writing leaves the others their turn. */
  #refuse(bytes: number): Promise<void> {
    if (this.#state === "full") this.#drop(bytes);
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** The call is over: what was dropped last is marked, and nothing more is taken. */
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
    if (this.#sink.isFree) {
      this.#mark();
      this.#push(content, bytes);
      return;
    }
    if (content.channel === "status" && this.#waitingStatus) {
      this.#waitingStatus.content = content;
      return;
    }
    if (this.#queuedBytes + bytes + messageBytes > this.#limits.maxStreamQueueBytes) {
      this.#drop(bytes);
      return;
    }
    const slot = this.#push(content, bytes);
    if (content.channel === "status") this.#waitingStatus = slot;
  }

  #push(content: Content, bytes: number): { content: Content } {
    const cost = bytes + messageBytes;
    const slot = { content };
    this.#queuedBytes += cost;
    this.#sink.push({
      bytes: cost,
      isStream: true,
      take: () => {
        this.#queuedBytes -= cost;
        if (this.#waitingStatus === slot) this.#waitingStatus = undefined;
        const { callId, toMessage } = this.#options;
        return toMessage({ call_id: callId, seq: ++this.#seq, ...slot.content });
      },
    });
    return slot;
  }

  #drop(bytes: number): void {
    this.dropped++;
    this.droppedBytes += bytes;
    if (this.#state === "open") this.#unmarked++;
  }

  /** Says where something is missing. */
  #mark(): void {
    if (this.#unmarked === 0) return;
    const text = `[${this.#unmarked} stream messages were dropped here]`;
    this.#unmarked = 0;
    this.#push({ channel: "log", data: { text } }, text.length);
  }
}
