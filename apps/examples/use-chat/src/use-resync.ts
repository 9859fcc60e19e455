import type { UseChatHelpers } from "@ai-sdk/react";
import type { ThreadUIMessage } from "@harnesskit/thread-client/ai-sdk-ui";
import { useEffect, useRef } from "react";
import type { ChatApi } from "./chat-api.ts";

const retryMs = 500;

const retryPause = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, retryMs);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** A connection that failed. The server's own errors are of another class. */
export const isAway = (error: Error | undefined): boolean => error instanceof TypeError;

/**
 * Goes on with the answer that is on its way when the page is loaded, instead of the option `resume` of `useChat`. Finds out what has
 * happened since the connection was lost, as soon as the server is there: the messages that are whole, and then
 * the answer that is still on its way. What the server never got comes back by `onUnsent`.
 */
export const useResync = (
  { messages, error, setMessages, clearError, resumeStream }: UseChatHelpers<ThreadUIMessage>,
  { loadMessages }: ChatApi,
  onUnsent: (text: string) => void,
): (() => Promise<void>) => {
  const resume = async (loaded: ThreadUIMessage[]) => {
    await resumeStream();
    const last = loaded.at(-1);
    if (last?.role !== "user") return;
    // Nothing is resumed of an answer that has ended since the messages were loaded: then they are loaded again.
    const whole = await loadMessages().catch(() => loaded);
    setMessages((shown) => (shown.at(-1)?.id === last.id ? whole : shown));
  };
  const take = async (loaded: ThreadUIMessage[]) => {
    setMessages(loaded);
    clearError();
    await resume(loaded);
  };
  // What a resync that goes on finds when it is done.
  const latest = useRef({ messages, loadMessages, onUnsent, take, resume });
  latest.current = { messages, loadMessages, onUnsent, take, resume };
  useEffect(() => {
    const { resume, messages } = latest.current;
    void resume(messages);
  }, []);
  useEffect(() => {
    if (!isAway(error)) return;
    const left = new AbortController();
    const resync = async () => {
      while (!left.signal.aborted) {
        const { messages, loadMessages, onUnsent, take } = latest.current;
        const loaded = await loadMessages(left.signal).catch(() => undefined);
        if (left.signal.aborted) return;
        if (loaded === undefined) {
          await retryPause(left.signal);
          continue;
        }
        const last = messages.findLast(({ role }) => role === "user");
        if (last !== undefined && !loaded.some(({ id }) => id === last.id)) onUnsent(shownText(last));
        return take(loaded);
      }
    };
    void resync();
    return () => left.abort();
  }, [error]);
  return async () => take(await loadMessages());
};

const shownText = ({ parts }: ThreadUIMessage): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");
