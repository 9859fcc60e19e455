import {
  parseStreamFrame,
  type ShellError,
  ShellErrorCode,
  STREAMING_VERSION,
  type StreamFrame,
  type StreamProgress,
  type UnknownStreamFrame,
} from "@harnesskit/protocol/openharness";
import type { StreamFact } from "./stream-events.ts";

/** What a message of a stream leads to. */
export type Step =
  /** Nothing: it is known already, or of another stream. */
  | { readonly kind: "ignored" }
  /** It is not a frame. */
  | { readonly kind: "invalid" }
  | { readonly kind: "accepted" }
  /** Frames before it are missing: it counts when it comes again, behind them. */
  | { readonly kind: "gap" }
  /** The response is there, as it came. */
  | { readonly kind: "done"; readonly response: unknown }
  /** The stream cannot be read any more. */
  | { readonly kind: "failed"; readonly error: ShellError };

const ignored = { kind: "ignored" } as const;
const accepted = { kind: "accepted" } as const;

const progressOf = ({ directive_id, state, message, action_type, fraction }: StreamProgress): StreamFact => ({
  type: "progress",
  directiveId: directive_id,
  state,
  message,
  actionType: action_type,
  fraction,
});

/**
 * Puts the frames of one stream in order, whatever cuts, repetitions and losses they come through: each counts once, at its
 * place, and the response comes once. Holds no frames: what is missing is asked for again.
 */
export class FrameReader {
  readonly #requestId: string;
  readonly #onFact: (fact: StreamFact) => void;
  #streamId: string | undefined;
  #nextSeq = 0;
  #isBehind = false;
  #isOver = false;

  constructor(requestId: string, onFact: (fact: StreamFact) => void) {
    this.#requestId = requestId;
    this.#onFact = onFact;
  }

  /** Undefined until the stream is opened. */
  get streamId(): string | undefined {
    return this.#streamId;
  }

  /** The last `seq` that counted; -1 before the first. */
  get lastSeq(): number {
    return this.#nextSeq - 1;
  }

  accept(message: unknown): Step {
    if (this.#isOver) return ignored;
    const frame = parseStreamFrame(message);
    if (!frame) return { kind: "invalid" };
    if (this.#streamId !== undefined && frame.stream_id !== this.#streamId) return ignored;
    if (frame.type === "error") return this.#fail(frame.error);
    if (frame.seq < this.#nextSeq) return ignored;
    if (this.#isBehind) return frame.type === "end" ? this.#end(frame.response) : ignored;
    if (frame.seq > this.#nextSeq) return { kind: "gap" };
    if (this.#streamId === undefined && !this.#opens(frame)) return { kind: "invalid" };
    this.#nextSeq++;
    return this.#count(frame);
  }

  #opens(frame: StreamFrame | UnknownStreamFrame): boolean {
    if (frame.type !== "opened" || frame.request_id !== this.#requestId) return false;
    if (frame.version !== STREAMING_VERSION) return false;
    this.#streamId = frame.stream_id;
    return true;
  }

  #count(frame: Exclude<StreamFrame, { type: "error" }> | UnknownStreamFrame): Step {
    switch (frame.type) {
      case "opened":
        this.#onFact({ type: "opened" });
        return accepted;
      case "text":
        this.#onFact({ type: "text", messageId: frame.message_id, delta: frame.delta });
        return accepted;
      case "progress":
        this.#onFact(progressOf(frame));
        return accepted;
      case "end":
        return this.#end(frame.response);
      case "unknown":
        return accepted;
    }
  }

  #end(response: unknown): Step {
    this.#isOver = true;
    return { kind: "done", response };
  }

  #fail(error: ShellError): Step {
    if (error.code !== ShellErrorCode.FramesDropped) {
      this.#isOver = true;
      return { kind: "failed", error };
    }
    if (this.#isBehind) return ignored;
    this.#isBehind = true;
    this.#onFact({ type: "lost" });
    return accepted;
  }
}
