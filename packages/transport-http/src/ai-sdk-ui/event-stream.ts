import { type Clock, callSafely } from "@harnesskit/wire";
import { eventHeaders } from "../server/event-stream.ts";
import { toChatFailure } from "./chat-failure.ts";

/** The headers of a stream of UI messages, as the AI SDK knows it by. */
export const eventStreamHeaders: Readonly<Record<string, string>> = {
  ...eventHeaders,
  "x-vercel-ai-ui-message-stream": "v1",
};

export interface EventStreamOptions {
  readonly clock: Clock;
  /** A line is sent when nothing was for so long, so that no proxy ends the stream. */
  readonly keepAliveMs: number;
  /** Aborts when the page goes away. */
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
  /** Called once, when nothing more is sent. */
  readonly onEnd: () => void;
}

/** Chunks as Server-Sent Events. A stream that fails ends with an `error` chunk that says what may be said of it. */
export const toEventStream = (
  chunks: ReadableStream<unknown>,
  { clock, keepAliveMs, signal, onError, onEnd }: EventStreamOptions,
): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  const reader = chunks.getReader();
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    signal.removeEventListener("abort", leave);
    onEnd();
  };
  const leave = () => {
    end();
    reader.cancel().catch(() => {});
  };
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  return new ReadableStream({
    async pull(controller) {
      const send = (text: string) => callSafely(() => controller.enqueue(encoder.encode(text)));
      let stop = () => {};
      const keepAlive = () => {
        stop = clock.after(keepAliveMs, () => {
          send(": still here\n\n");
          keepAlive();
        });
      };
      keepAlive();
      try {
        const { done, value } = await reader.read();
        if (!done) return send(`data: ${JSON.stringify(value)}\n\n`);
      } catch (error) {
        const { status, text } = toChatFailure(error);
        if (status === 500) onError(error);
        send(`data: ${JSON.stringify({ type: "error", errorText: text })}\n\n`);
        reader.cancel(error).catch(() => {});
      } finally {
        stop();
      }
      send("data: [DONE]\n\n");
      callSafely(() => controller.close());
      end();
    },
    cancel: leave,
  });
};
