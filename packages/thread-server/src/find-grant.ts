import { type Grant, isPreviewCut, type Thread } from "@harnesskit/protocol/threads";
import { digest } from "@harnesskit/wire";
import type { ThreadStore } from "./thread-store.ts";

/** The digest of a preview, where there is one. */
export const previewDigestOf = async (preview: string | undefined): Promise<string | undefined> =>
  preview === undefined ? undefined : digest(preview);

/**
 * The `always` answer that covers exactly this call, shown exactly so, in its directory or, where it has one, its
 * thread. None covers a call whose preview was cut: what is left out of it may be something else each time.
 */
export const findGrant = async (
  store: ThreadStore,
  thread: Pick<Thread, "directory"> & Partial<Pick<Thread, "threadId">>,
  call: { readonly digest: string; readonly preview?: string | undefined },
): Promise<Grant | undefined> => {
  if (isPreviewCut(call.preview)) return undefined;
  const previewDigest = await previewDigestOf(call.preview);
  const grants = await store.grants({ digest: call.digest });
  return grants.find(
    (grant) =>
      grant.digest === call.digest &&
      grant.previewDigest === previewDigest &&
      (grant.scope === "thread" ? grant.threadId === thread.threadId : grant.directory === thread.directory),
  );
};
