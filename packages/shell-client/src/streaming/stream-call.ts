import type { ShellRequest, StreamControl } from "@harnesskit/protocol/openharness";
import { type Backoff, type Clock, HarnessError } from "@harnesskit/wire";
import { ShellClientError } from "../shell-client-error.ts";
import type { FrameReader } from "./frame-reader.ts";
import type { StreamFact } from "./stream-events.ts";

/** What a line needs to read the response of a request as a stream. */
export interface StreamCall {
  /** Of attempts in a row to resume without a frame that counts. */
  readonly backoff: Backoff;
  readonly clock: Clock;
  readonly onFact: (fact: StreamFact) => void;
}

/** Counts attempts in a row to resume a stream without a frame that counts. */
export class ResumeAttempts {
  readonly #reader: FrameReader;
  readonly #max: number;
  #count = 0;
  #seq: number;

  constructor(reader: FrameReader, { maxAttempts }: Backoff) {
    this.#reader = reader;
    this.#max = maxAttempts;
    this.#seq = reader.lastSeq;
  }

  /** The number of the next one, from 1; undefined where there were too many. */
  next(): number | undefined {
    const { lastSeq } = this.#reader;
    this.#count = lastSeq > this.#seq ? 1 : this.#count + 1;
    this.#seq = lastSeq;
    return this.#count > this.#max ? undefined : this.#count;
  }
}

/** Names a stream to the engine, as the one of its request. */
const ofStream = (streamId: string, { request: { context, auth } }: ShellRequest) => ({
  stream_id: streamId,
  session_id: context?.session_id,
  auth,
});

/** Asks for the frames that have not counted yet. Undefined before the stream is opened. */
export const resumeMessage = (reader: FrameReader, request: ShellRequest): StreamControl | undefined =>
  reader.streamId === undefined
    ? undefined
    : { type: "stream.resume", ...ofStream(reader.streamId, request), after_seq: reader.lastSeq };

/** Ends the work of a stream. Undefined before the stream is opened. */
export const cancelMessage = (reader: FrameReader, request: ShellRequest): StreamControl | undefined =>
  reader.streamId === undefined
    ? undefined
    : { type: "stream.cancel", ...ofStream(reader.streamId, request) };

/** Whether a call was given up by its caller: after a time-out, or with its client, the work may be met again. */
export const isCallersChoice = (reason: unknown): boolean => {
  if (!HarnessError.isInstance(reason) || reason.code !== "request_cancelled") return false;
  return !(ShellClientError.isInstance(reason.cause) && reason.cause.code === "closed");
};
