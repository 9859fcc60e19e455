import type { FileHandle } from "node:fs/promises";
import { isMissing, systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import { type Thread, ThreadSchema } from "@harnesskit/protocol/threads";
import { readEvents, readLastEvents } from "./read-events.ts";
import type { StoreFileSystem } from "./store-file-system.ts";

/** A larger file is passed over: the log says the same. */
const maxMetaBytes = 1024 * 1024;

/**
 * The thread that a `meta.json` names, or undefined where the file is missing, is not a regular one of at most 1 MiB, or is
 * no thread of this id.
 */
export const readMeta = async (
  fileSystem: StoreFileSystem,
  path: string,
  threadId: string,
): Promise<Thread | undefined> => {
  try {
    const parsed = ThreadSchema.safeParse(JSON.parse(await fileSystem.readFile(path, maxMetaBytes)));
    return parsed.success && parsed.data.threadId === threadId ? parsed.data : undefined;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError || UnsafeFileError.isInstance(error))
      return undefined;
    if (systemErrorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
};

/** The thread as its log knows it: as it was created, and last used at the last event. Undefined where it begins otherwise. */
export const threadOfLog = async (log: FileHandle, threadId: string): Promise<Thread | undefined> => {
  for await (const event of readEvents(log, { limit: 1 })) {
    if (event.type !== "thread.created" || event.data.thread.threadId !== threadId) return undefined;
    const { thread } = event.data;
    const last = (await readLastEvents(log, 4096)).at(-1) ?? event;
    return { ...thread, time: { created: thread.time.created, updated: last.time } };
  }
  return undefined;
};
