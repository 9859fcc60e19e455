import { type Clock, FrameTooLargeError, HarnessError, type MessageCodec } from "@harnesskit/wire";
import { within } from "@harnesskit/wire/time";
import { createParser } from "eventsource-parser";

export interface ReadEventsOptions {
  readonly codec: MessageCodec;
  /** Bytes of one message; then `frame_too_large`. */
  readonly maxMessageBytes: number;
  /** How long nothing may arrive, comments included; then `request_timeout`. */
  readonly maxSilenceMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** What is read, for errors. */
  readonly name: string;
  /** Makes an error of a failure of the platform. */
  readonly toError: (cause: unknown) => HarnessError;
}

/** Whether a header names an event stream. */
export const isEventType = (header: string | undefined): boolean =>
  header?.split(";")[0]?.trim().toLowerCase() === "text/event-stream";

/** Fields of an event beside its message: `id`, `event`, line ends. */
const eventOverhead = 1024;

/**
 * The messages of an event stream, as they arrive. Ends where the connection ends: whether that was the end of the stream is for
 * the protocol to say. Rejects with `invalid_message`, `frame_too_large`, `request_timeout`, `request_cancelled` or what `toError` makes.
 */
export async function* readServerSentEvents(
  chunks: AsyncIterable<Uint8Array>,
  options: ReadEventsOptions,
): AsyncGenerator<unknown> {
  const { codec, maxMessageBytes, maxSilenceMs, clock, signal, name, toError } = options;
  const text = new TextDecoder();
  const bytes = new TextEncoder();
  let arrived: unknown[] = [];
  let failure: unknown;
  const parser = createParser({
    maxBufferSize: maxMessageBytes + eventOverhead,
    onEvent: ({ data }) => {
      if (failure !== undefined) return;
      try {
        arrived.push(codec.decode(bytes.encode(data)));
      } catch (error) {
        failure = error;
      }
    },
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") failure ??= new FrameTooLargeError(maxMessageBytes);
    },
  });
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const wait = { name, timeoutMs: maxSilenceMs, clock, signal, holdsProcess: false };
      const { done, value } = await within(iterator.next(), wait);
      if (done) return;
      parser.feed(text.decode(value, { stream: true }));
      const ready = arrived;
      arrived = [];
      yield* ready;
      if (failure !== undefined) throw failure;
    }
  } catch (cause) {
    throw HarnessError.isInstance(cause) ? cause : toError(cause);
  }
}
