import { toChatFailure } from "./chat-failure.ts";

/** UI message chunks as the data of server-sent events. A stream that fails ends with an `error` chunk that says what may be said of it. */
export const chatEvents = (
  chunks: ReadableStream<unknown>,
  onError: (error: unknown) => void,
): AsyncIterableIterator<string> => {
  const reader = chunks.getReader();
  let state: "open" | "last" | "over" = "open";
  return {
    async next() {
      if (state === "over") return { done: true, value: undefined };
      if (state === "open") {
        try {
          const { done, value } = await reader.read();
          if (!done) return { done: false, value: JSON.stringify(value) };
        } catch (error) {
          const { status, text } = toChatFailure(error);
          if (status === 500) onError(error);
          state = "last";
          reader.cancel(error).catch(() => {});
          return { done: false, value: JSON.stringify({ type: "error", errorText: text }) };
        }
      }
      state = "over";
      return { done: false, value: "[DONE]" };
    },
    async return() {
      state = "over";
      reader.cancel().catch(() => {});
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};
