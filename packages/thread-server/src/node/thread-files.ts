import { join } from "node:path";

/** The ids that a store makes files for: no dot, slash or NUL can be in one, and no device has such a name. */
const fileSafeId = /^ses_[A-Za-z0-9]{1,64}$/;

/** True for an id that a store can have made up. */
export const isFileSafeId = (threadId: string): boolean => fileSafeId.test(threadId);

/** Where one thread's files lie (section "Persistence"). */
export interface ThreadFiles {
  readonly directory: string;
  readonly events: string;
  readonly meta: string;
  readonly lock: string;
  /** Directory of the files beside the log. */
  readonly artifacts: string;
}

export const threadsDirectory = (root: string): string => join(root, "threads");

/** The files of a thread, or undefined for an id that no store has made up. */
export const threadFiles = (root: string, threadId: string): ThreadFiles | undefined => {
  if (!isFileSafeId(threadId)) return undefined;
  const directory = join(threadsDirectory(root), threadId);
  return {
    directory,
    events: join(directory, "events.jsonl"),
    meta: join(directory, "meta.json"),
    lock: join(directory, "lock.json"),
    artifacts: join(directory, "artifacts"),
  };
};
