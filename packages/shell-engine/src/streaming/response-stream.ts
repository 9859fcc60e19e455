import {
  STREAMING_VERSION,
  type StreamEnd,
  type StreamFrame,
  type StreamOpened,
  type StreamProgress,
  type StreamText,
} from "@harnesskit/protocol/openharness";
import { Feed } from "@harnesskit/wire";
import type { ShellEngineLimits } from "../limits.ts";
import type { DirectiveProgress, ShellStream } from "./shell-stream.ts";

type Draft<Frame> = Omit<Frame, "stream_id" | "seq">;
type Waiting = Draft<StreamOpened> | Draft<StreamText> | Draft<StreamProgress> | Draft<StreamEnd>;

const maxMessageLength = 1_000;

/** What a preview takes beside its text, in characters, about. */
const frameOverhead = 160;

const lengthOf = (waiting: Waiting): number => {
  if (waiting.type === "text") return frameOverhead + waiting.delta.length;
  return waiting.type === "progress" ? frameOverhead + (waiting.message?.length ?? 0) : 0;
};

/** Where a string may be cut after `length` characters: not inside of a surrogate pair. */
const cutAt = (text: string, length: number): number => {
  const last = text.charCodeAt(length - 1);
  return text.length > length && length > 1 && last >= 0xd800 && last <= 0xdbff ? length - 1 : length;
};

/**
 * The frames of one response, for one reader: `opened`, previews, `end`. Frames are numbered as they are read. Text that was not read
 * yet is joined. Previews that do not fit behind those that wait are dropped, and so are all that follow: what a
 * reader gets is a beginning without gaps, and then the response.
 */
export class ResponseStream extends Feed<StreamFrame> implements ShellStream {
  readonly id: string;
  readonly #bounds: ShellEngineLimits;
  #waiting: Waiting[];
  #length = 0;
  #seq = 0;
  #isFull = false;

  constructor(id: string, requestId: string, bounds: ShellEngineLimits) {
    super();
    this.id = id;
    this.#bounds = bounds;
    this.#waiting = [{ type: "opened", request_id: requestId, version: STREAMING_VERSION }];
  }

  get isOpen(): boolean {
    return !this.isEnded;
  }

  /** Adds text to a message. Ignored after the end. */
  readonly text = (delta: string, messageId = "1"): void => {
    const { maxFrameLength } = this.#bounds;
    let rest = delta;
    while (rest !== "") {
      const last = this.#waiting.at(-1);
      const joined = last?.type === "text" && last.message_id === messageId ? last.delta + rest : undefined;
      if (joined !== undefined && joined.length <= maxFrameLength) {
        this.#waiting.pop();
        this.#length -= lengthOf(last as Waiting);
        this.#add({ type: "text", message_id: messageId, delta: joined });
        return;
      }
      const end = cutAt(rest, Math.min(rest.length, maxFrameLength));
      this.#add({ type: "text", message_id: messageId, delta: rest.slice(0, end) });
      rest = rest.slice(end);
    }
  };

  /** Ignored after the end. */
  readonly progress = (
    directiveId: string,
    { state = "running", message, actionType, fraction }: DirectiveProgress = {},
  ): void => {
    this.#add({
      type: "progress",
      directive_id: directiveId,
      state,
      message: message?.slice(0, maxMessageLength),
      action_type: actionType,
      fraction,
    });
  };

  /** Adds the last frame. */
  finish(response: StreamEnd["response"]): void {
    if (this.isEnded) return;
    this.#waiting.push({ type: "end", response });
    this.flush();
    this.end();
  }

  protected shift(): StreamFrame | undefined {
    const waiting = this.#waiting.shift();
    if (!waiting) return undefined;
    this.#length -= lengthOf(waiting);
    return { stream_id: this.id, seq: this.#seq++, ...waiting };
  }

  protected clear(): void {
    this.#waiting = [];
  }

  #add(preview: Waiting): void {
    if (this.isEnded || this.#isFull) return;
    this.#isFull = this.#length + lengthOf(preview) > this.#bounds.maxStreamLength;
    if (this.#isFull) return;
    this.#length += lengthOf(preview);
    this.#waiting.push(preview);
    this.flush();
  }
}
