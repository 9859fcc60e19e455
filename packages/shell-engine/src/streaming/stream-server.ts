import type { ShellError, ShellResponse } from "@harnesskit/protocol/openharness";
import { isStreamControl } from "@harnesskit/protocol/openharness";
import { type Channel, isMessageStream } from "@harnesskit/wire";
import type { Admission } from "../admission.ts";
import type { ShellEngineLimits } from "../limits.ts";
import type { ResponseStream } from "./response-stream.ts";
import { onlyError, readControl, resumeStream, sendFrames } from "./stream-control.ts";
import type { StreamTable } from "./stream-table.ts";

export interface StreamServerOptions<Context> {
  readonly limits: ShellEngineLimits;
  readonly table: StreamTable;
  readonly admission: Admission<Context>;
  /** Throws where nothing more is accepted. */
  readonly assertOpen: () => void;
  /** Answers a request; `onStream` is called at once when a stream is opened for it. */
  readonly answer: (
    message: unknown,
    context: Context,
    onStream: (stream: ResponseStream) => void,
  ) => Promise<ShellResponse>;
  readonly toError: (error: unknown) => ShellError;
}

/** Answers the messages of shells that also read streams: requests, and what is about a stream. */
export class StreamServer<Context> {
  readonly #options: StreamServerOptions<Context>;

  constructor(options: StreamServerOptions<Context>) {
    this.#options = options;
  }

  /** Resolves with a response, with frames, or with undefined for a cancellation. Never rejects. */
  handle(message: unknown, context: Context, connection?: object): Promise<unknown> {
    if (isStreamControl(message)) return this.#control(message, context, connection);
    return new Promise((resolve) => {
      let stream: ResponseStream | undefined;
      const onStream = (opened: ResponseStream) => {
        stream = opened;
        resolve(opened.read(-1, connection));
      };
      void this.#options.answer(message, context, onStream).then((response) => {
        if (stream) stream.end(response as never);
        else resolve(response);
      });
    });
  }

  /** Answers one message of a channel: `respond` gets the last of what is sent for it, and `setIdle` whether it waits for a frame. */
  async serve(
    message: unknown,
    context: Context,
    channel: Channel<Context>,
    respond: (last: never) => void,
    setIdle: (isIdle: boolean) => void,
  ): Promise<void> {
    const answer = await this.handle(message, context, channel);
    if (isMessageStream(answer)) respond((await sendFrames(answer, channel, setIdle)) as never);
    else respond(answer as never);
  }

  async #control(message: unknown, context: Context, connection: object | undefined): Promise<unknown> {
    const { limits, table, admission, assertOpen, toError } = this.#options;
    try {
      assertOpen();
      const control = readControl(message, limits);
      const { owner } = await admission.admit(control.auth, undefined, context);
      const stream = table.find(control.stream_id, { owner, sessionId: control.session_id });
      if (control.type === "stream.resume") return resumeStream(stream, control, context, connection);
      stream.cancel();
      return undefined;
    } catch (error) {
      return onlyError(message, toError(error), limits);
    }
  }
}
