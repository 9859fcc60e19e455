import {
  parseStreamFrame,
  STREAMING_VERSION,
  type StreamCancel,
  type StreamFrame,
  type StreamProgress,
} from "@harnesskit/protocol/openharness";
import { HarnessError } from "@harnesskit/wire";
import type { SendableRequest } from "../engine.ts";
import { ShellClientError } from "../shell-client-error.ts";
import type { StreamFact } from "./stream-events.ts";

const toFact = ({ directive_id, state, message, action_type, fraction }: StreamProgress): StreamFact => ({
  type: "progress",
  directiveId: directive_id,
  state,
  message,
  actionType: action_type,
  fraction,
});

/** Reads the frames of one stream: previews as they come, each once, and the response. */
export class FrameReader {
  readonly #request: SendableRequest;
  readonly #onFact: (fact: StreamFact) => void;
  #streamId: string | undefined;
  #nextSeq = 0;
  /** Set once the response is there, as it came. */
  end: { readonly response: unknown } | undefined;

  constructor(request: SendableRequest, onFact: (fact: StreamFact) => void) {
    this.#request = request;
    this.#onFact = onFact;
  }

  /** Undefined until the stream is opened. */
  get streamId(): string | undefined {
    return this.#streamId;
  }

  /** Ends the work of the stream. Undefined before it is opened. */
  get cancelMessage(): StreamCancel | undefined {
    if (this.#streamId === undefined) return undefined;
    const { context, auth } = this.#request.request;
    return { type: "stream.cancel", stream_id: this.#streamId, session_id: context?.session_id, auth };
  }

  /** False for a message that is not a frame of this stream. A frame that counted before changes nothing. */
  accept(message: unknown): boolean {
    const frame = parseStreamFrame(message);
    if (!frame || (this.#streamId === undefined && !this.#opens(frame))) return false;
    if (frame.stream_id !== this.#streamId) return false;
    if (this.end || frame.seq < this.#nextSeq) return true;
    this.#nextSeq = frame.seq + 1;
    if (frame.type === "end") this.end = { response: frame.response };
    else if (frame.type === "opened") this.#onFact({ type: "opened" });
    else if (frame.type === "text") {
      this.#onFact({ type: "text", messageId: frame.message_id, delta: frame.delta });
    } else if (frame.type === "progress") this.#onFact(toFact(frame));
    return true;
  }

  #opens(frame: StreamFrame | { readonly type: "unknown" }): boolean {
    if (frame.type !== "opened" || frame.request_id !== this.#request.request_id) return false;
    if (frame.version !== STREAMING_VERSION) return false;
    this.#streamId = frame.stream_id;
    return true;
  }
}

/** Whether a call was given up by its caller: after a time-out, or with its client, the work may be met again. */
export const isCallersChoice = (reason: unknown): boolean => {
  if (!HarnessError.isInstance(reason) || reason.code !== "request_cancelled") return false;
  const { cause } = reason;
  if (ShellClientError.isInstance(cause)) return cause.code !== "closed";
  return !(HarnessError.isInstance(cause) && cause.code === "request_timeout");
};
