import type { JsonObject } from "@harnesskit/protocol/envelope";
import { type Grant, isPreviewCut, type Thread } from "@harnesskit/protocol/threads";
import { digest } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import type { ThreadStore } from "./thread-store.ts";

const previewDigestOf = async (preview: string | undefined): Promise<string | undefined> =>
  preview === undefined ? undefined : digest(preview);

interface Call {
  readonly tool: string;
  readonly input: JsonObject;
}

/**
 * The input that stands for a call and for those like it: its command, cut to how it begins. Undefined for a call that can be allowed only exactly.
 */
export type StartOf = (call: Call) => JsonObject | undefined;

/** The digest of a start, which is that of no call. */
const startDigest = (tool: string, start: JsonObject): Promise<string> => digest({ tool, start });

/**
 * What an `always` answer about a call allows: exactly this call, or with `match` those with its start. Undefined for a call that has no
 * start.
 */
export const grantedBy = async (
  { tool, input, digest, preview }: Call & { readonly digest: string; readonly preview?: string | undefined },
  match: Grant["match"],
  startOf: StartOf,
): Promise<Pick<Grant, "tool" | "input" | "digest" | "match" | "previewDigest"> | undefined> => {
  const start = match === undefined ? undefined : startOf({ tool, input });
  if (match !== undefined && start === undefined) return undefined;
  return defined({
    ...{ tool, match, previewDigest: await previewDigestOf(preview) },
    input: start ?? input,
    digest: start === undefined ? digest : await startDigest(tool, start),
  });
};

/**
 * The `always` answer that covers this call, shown exactly so, in its directory or, where it has one, its thread: exactly this call, or those
 * with its start. None covers a call whose preview was cut: what is left out of it may be something else each time.
 */
export const findGrant = async (
  store: ThreadStore,
  thread: Pick<Thread, "directory"> & Partial<Pick<Thread, "threadId">>,
  call: Call & { readonly digest: string; readonly preview?: string | undefined },
  startOf: StartOf,
): Promise<Grant | undefined> => {
  if (isPreviewCut(call.preview)) return undefined;
  const previewDigest = await previewDigestOf(call.preview);
  const find = async (wanted: string, match: Grant["match"]) =>
    (await store.grants({ digest: wanted })).find(
      (grant) =>
        grant.digest === wanted &&
        grant.match === match &&
        grant.previewDigest === previewDigest &&
        (grant.scope === "thread"
          ? grant.threadId === thread.threadId
          : grant.directory === thread.directory),
    );
  const exact = await find(call.digest, undefined);
  const start = exact === undefined ? startOf(call) : undefined;
  return start === undefined ? exact : find(await startDigest(call.tool, start), "start");
};
