import type { ServerSettings } from "./server-settings.ts";
import type { ThreadSessions } from "./thread-sessions.ts";

/**
 * Opens the threads in which prompts wait, one after the other: each goes on by itself. Those that another server writes are
 * left to it. Rejects as the store does; a thread that cannot be opened is reported, and costs no other thread.
 */
export const resumeQueues = async (
  sessions: ThreadSessions,
  { store, onError }: ServerSettings,
  isClosing: () => boolean,
): Promise<void> => {
  for (const { threadId, queued } of await store.list()) {
    if (isClosing()) return;
    if (queued !== undefined) await sessions.read(threadId, async () => {}).catch(onError);
  }
};
