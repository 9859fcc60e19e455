import {
  ShellErrorCode,
  STREAMING_VERSION,
  type StreamError,
  type StreamFrame,
  type StreamProgress,
  type StreamText,
} from "@harnesskit/protocol/openharness";
import { StreamReader } from "./stream-reader.ts";

/** A frame that counts in the sequence. */
export type CountedFrame = Exclude<StreamFrame, StreamError>;

export interface StreamBounds {
  /** Frames that are kept for replay. */
  readonly maxStreamFrames: number;
  /** Characters that are kept for replay. */
  readonly maxStreamLength: number;
  /** Characters of a frame's text. */
  readonly maxFrameLength: number;
}

export interface ResponseStreamOptions {
  readonly id: string;
  readonly requestId: string;
  readonly bounds: StreamBounds;
  /** Ends the work. */
  readonly cancel: () => void;
  /** How many characters more, or fewer, are kept. May drop frames of this stream. */
  readonly onLength: (change: number) => void;
  /** A reader came, or the last one has left. */
  readonly onReader: (isRead: boolean) => void;
}

/** What a frame takes beside its text, in characters, about. */
const frameOverhead = 160;

const lengthOf = (frame: CountedFrame): number => {
  if (frame.type === "text") return frameOverhead + frame.delta.length;
  if (frame.type === "end") return frameOverhead + JSON.stringify(frame.response).length;
  return frameOverhead + (frame.type === "progress" ? (frame.message?.length ?? 0) : 0);
};

/** Where a string may be cut after `length` characters: not inside of a surrogate pair. */
const cutAt = (text: string, length: number): number => {
  const last = text.charCodeAt(length - 1);
  return text.length > length && length > 1 && last >= 0xd800 && last <= 0xdbff ? length - 1 : length;
};

export const errorFrame = (streamId: string, error: StreamError["error"]): StreamError => ({
  stream_id: streamId,
  type: "error",
  error,
});

/**
 * The frames of one response: numbered from 0 without gaps, the last one `end`. A bounded number of them is kept for replay, and
 * the oldest go first. Text that no reader has got yet is joined into one frame, so that a slow reader gets fewer frames. It has
 * one reader at a time; it knows no time, no transport and no owner.
 */
export class ResponseStream {
  readonly id: string;
  readonly #options: ResponseStreamOptions;
  readonly #frames = new Map<number, CountedFrame>();
  #firstSeq = 0;
  #nextSeq = 0;
  /** The highest `seq` that any reader has got: frames up to it do not change any more. */
  #takenSeq = -1;
  #length = 0;
  #hasEnded = false;
  #isForgotten = false;
  #reader: StreamReader | undefined;

  constructor(options: ResponseStreamOptions) {
    this.id = options.id;
    this.#options = options;
    const { id: stream_id, requestId: request_id } = options;
    this.#add({ stream_id, seq: 0, type: "opened", request_id, version: STREAMING_VERSION });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get isRead(): boolean {
    return this.#reader !== undefined;
  }

  /** The `seq` of the last frame. */
  get lastSeq(): number {
    return this.#nextSeq - 1;
  }

  /** Adds text to a message. Ignored after the end. */
  text(messageId: string, delta: string): void {
    let rest = delta;
    while (rest !== "" && !this.#isOver) {
      rest = this.#extend(messageId, rest);
      if (rest === "") break;
      const end = cutAt(rest, this.#options.bounds.maxFrameLength);
      this.#add({
        stream_id: this.id,
        seq: this.#nextSeq,
        type: "text",
        message_id: messageId,
        delta: rest.slice(0, end),
      });
      rest = rest.slice(end);
    }
    this.#reader?.wake();
  }

  /** Ignored after the end. */
  progress(progress: Omit<StreamProgress, "stream_id" | "seq" | "type">): void {
    if (this.#isOver) return;
    this.#add({ stream_id: this.id, seq: this.#nextSeq, type: "progress", ...progress });
    this.#reader?.wake();
  }

  /** Adds the last frame. Ignored a second time. */
  end(response: Extract<CountedFrame, { type: "end" }>["response"]): void {
    if (this.#isOver) return;
    this.#hasEnded = true;
    this.#add({ stream_id: this.id, seq: this.#nextSeq, type: "end", response });
    this.#reader?.wake();
  }

  cancel(): void {
    if (!this.#isOver) this.#options.cancel();
  }

  /**
   * Reads the frames behind `afterSeq`, -1 for all, over a connection. The reader before this one gets no end; over another
   * connection it gets `stream_taken`.
   */
  read(afterSeq: number, connection?: object): StreamReader {
    const before = this.#reader;
    if (before && connection !== undefined && before.connection === connection) before.close();
    else {
      before?.giveUp(
        errorFrame(this.id, {
          code: ShellErrorCode.StreamTaken,
          message: "Another connection reads this stream now.",
          retryable: false,
        }),
      );
    }
    const reader = new StreamReader(this, afterSeq + 1, connection);
    this.#reader = reader;
    this.#options.onReader(true);
    return reader;
  }

  /** What a reader gets next; undefined where it must wait. */
  take(seq: number): StreamFrame | undefined {
    if (seq < this.#firstSeq) {
      const details = { first_seq: this.#firstSeq };
      const message = "Frames are not kept any more: the response follows when it is there.";
      return errorFrame(this.id, { code: ShellErrorCode.FramesDropped, message, retryable: false, details });
    }
    const frame = this.#frames.get(seq);
    if (frame) this.#takenSeq = Math.max(this.#takenSeq, seq);
    return frame;
  }

  /** The last frame, once it is there. */
  get endFrame(): CountedFrame | undefined {
    return this.#hasEnded ? this.#frames.get(this.lastSeq) : undefined;
  }

  /** A reader reads no more. */
  leave(reader: StreamReader): void {
    if (this.#reader !== reader) return;
    this.#reader = undefined;
    this.#options.onReader(false);
  }

  /** Characters that are kept. */
  get length(): number {
    return this.#length;
  }

  /** Whether there is a frame beside the last one, which stays. */
  get canDrop(): boolean {
    return this.#frames.size > 1;
  }

  /** Drops the oldest frame. */
  drop(): void {
    const length = lengthOf(this.#frames.get(this.#firstSeq) as CountedFrame);
    this.#frames.delete(this.#firstSeq++);
    this.#length -= length;
    this.#options.onLength(-length);
  }

  /** Keeps nothing from now on. What still works goes on without frames. */
  forget(): void {
    if (this.#isForgotten) return;
    this.#isForgotten = true;
    this.#frames.clear();
    this.#options.onLength(-this.#length);
    this.#length = 0;
    this.#reader?.close();
  }

  get #isOver(): boolean {
    return this.#hasEnded || this.#isForgotten;
  }

  /** Puts as much text into the last frame as it may still take. Returns what is left. */
  #extend(messageId: string, delta: string): string {
    const last = this.#frames.get(this.lastSeq);
    if (last?.type !== "text" || last.message_id !== messageId || last.seq <= this.#takenSeq) return delta;
    const room = this.#options.bounds.maxFrameLength - last.delta.length;
    if (room <= 0) return delta;
    const end = cutAt(delta, Math.min(room, delta.length));
    if (end === 0 || (end < delta.length && end < 2)) return delta;
    const joined: StreamText = { ...last, delta: last.delta + delta.slice(0, end) };
    this.#frames.set(last.seq, joined);
    this.#grow(end);
    return delta.slice(end);
  }

  #add(frame: CountedFrame): void {
    this.#frames.set(frame.seq, frame);
    this.#nextSeq = frame.seq + 1;
    this.#grow(lengthOf(frame));
  }

  #grow(change: number): void {
    const { bounds, onLength } = this.#options;
    this.#length += change;
    onLength(change);
    while (
      this.canDrop &&
      (this.#frames.size > bounds.maxStreamFrames || this.#length > bounds.maxStreamLength)
    ) {
      this.drop();
    }
  }
}
