import type { Grant, Thread } from "@harnesskit/protocol/threads";
import type { ThreadStore } from "./thread-store.ts";

/** The `always` answer that covers exactly this call in this thread, or in its directory. */
export const findGrant = async (
  store: ThreadStore,
  thread: Thread,
  digest: string,
): Promise<Grant | undefined> => {
  const grants = await store.grants();
  return grants.find(
    (grant) =>
      grant.digest === digest &&
      (grant.scope === "thread" ? grant.threadId === thread.threadId : grant.directory === thread.directory),
  );
};
