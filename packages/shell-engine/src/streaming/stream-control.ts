import { type StreamControl, StreamControlSchema, type StreamError } from "@harnesskit/protocol/openharness";
import type { Channel, StreamedMessage } from "@harnesskit/wire";
import { badRequest } from "../failure.ts";
import type { ShellEngineLimits } from "../limits.ts";
import { assertBounds, messageIdOf } from "../read-request.ts";
import { contextField } from "../shell-context.ts";
import { onChannelClose } from "./on-channel-close.ts";
import { errorFrame, type ResponseStream } from "./response-stream.ts";
import { isLastFrame, type StreamReader } from "./stream-reader.ts";

/** Reads a message about a stream. Throws `invalid_request`. */
export const readControl = (message: unknown, limits: ShellEngineLimits): StreamControl => {
  assertBounds(message, limits);
  const parsed = StreamControlSchema.safeParse(message);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.map(String).join(".") ?? "";
    throw badRequest("The message is not a valid message about a stream.", { reason: "schema", path });
  }
  const { stream_id: id, session_id: sessionId = "" } = parsed.data;
  if (id.length > limits.maxIdLength || sessionId.length > limits.maxIdLength) {
    throw badRequest("An id is too long.", { reason: "id_too_long", path: "stream_id" });
  }
  return parsed.data;
};

/** `Last-Event-ID` of a transport's context. */
const lastEventId = (context: unknown): number | undefined => {
  const headers = contextField(context, "headers");
  const value =
    typeof headers === "object" && headers !== null && Object.hasOwn(headers, "last-event-id")
      ? (headers as Record<string, unknown>)["last-event-id"]
      : undefined;
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
};

/** Goes on behind the last frame that arrived, which is the message's, or the header's. Throws `invalid_request` for one that was never sent. */
export const resumeStream = (
  stream: ResponseStream,
  { after_seq: named }: { readonly after_seq?: number | undefined },
  context: unknown,
  connection: object | undefined,
): StreamReader => {
  const afterSeq = named ?? lastEventId(context);
  if (afterSeq !== undefined && afterSeq <= stream.lastSeq) return stream.read(afterSeq, connection);
  const reason = afterSeq === undefined ? "schema" : "beyond_end";
  throw badRequest("after_seq must be the seq of a frame that was sent.", { reason, path: "after_seq" });
};

/** What a shell gets in place of a stream. */
export async function* onlyError(
  message: unknown,
  error: StreamError["error"],
  { maxIdLength }: ShellEngineLimits,
): AsyncGenerator<StreamedMessage> {
  const id = messageIdOf(message, "stream_id", maxIdLength) ?? "unknown";
  yield { message: errorFrame(id, error) };
}

/** The denial of a shell whose request is answered without a stream, because there are too many. */
export const tooManyStreams = Object.freeze({
  code: "too_many_streams",
  message: "Too many streams are open: this request is answered without one.",
});

/**
 * Sends the frames of a reader over a channel, the next when the one before was handed over. Returns the last one, which is not
 * sent, or undefined where the reader was closed. While it waits for a frame it is idle: messages about the stream must be read.
 */
export const sendFrames = async (
  frames: AsyncIterable<StreamedMessage> & { fallBehind?: () => void; close?: () => void },
  channel: Pick<Channel, "send" | "signal">,
  setIdle: (isIdle: boolean) => void,
): Promise<unknown> => {
  const stay = onChannelClose(channel, () => frames.close?.());
  let last: unknown;
  setIdle(true);
  for await (const { message } of frames) {
    setIdle(false);
    if (isLastFrame(message as Parameters<typeof isLastFrame>[0])) last = message;
    else {
      try {
        await channel.send(message);
      } catch {
        // A closed channel has no reader any more; one that refuses a frame still gets the end.
        frames.fallBehind?.();
      }
    }
    setIdle(true);
  }
  setIdle(false);
  stay();
  return last;
};
