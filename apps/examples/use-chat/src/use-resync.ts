import type { UseChatHelpers } from "@ai-sdk/react";
import type { ThreadUIMessage } from "@harnesskit/thread-client/ai-sdk-ui";
import { useCallback, useEffect } from "react";
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
 * Finds out what has happened since the connection was lost, as soon as the server is there: the messages that are whole, and then
 * the answer that is still on its way. What the server never got comes back by `onUnsent`.
 */
export const useResync = (
  { messages, error, setMessages, clearError, resumeStream }: UseChatHelpers<ThreadUIMessage>,
  { loadMessages }: ChatApi,
  onUnsent: (text: string) => void,
): (() => Promise<void>) => {
  const take = useCallback(
    async (loaded: ThreadUIMessage[]) => {
      setMessages(loaded);
      clearError();
      await resumeStream();
    },
    [setMessages, clearError, resumeStream],
  );
  useEffect(() => {
    if (!isAway(error)) return;
    const left = new AbortController();
    const last = messages.findLast(({ role }) => role === "user");
    const resync = async () => {
      while (!left.signal.aborted) {
        const loaded = await loadMessages(left.signal).catch(() => undefined);
        if (left.signal.aborted) return;
        if (loaded === undefined) {
          await retryPause(left.signal);
          continue;
        }
        if (last !== undefined && !loaded.some(({ id }) => id === last.id)) onUnsent(shownText(last));
        await take(loaded);
        return;
      }
    };
    void resync();
    return () => left.abort();
    // A new error begins anew; messages change while it goes on.
  }, [error]);
  return useCallback(async () => take(await loadMessages()), [take, loadMessages]);
};

const shownText = ({ parts }: ThreadUIMessage): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");
