import type { Thread } from "@harnesskit/protocol/threads";

/** The thread with another title. */
export const withTitle = (thread: Thread, title: string): Thread =>
  thread.title === title ? thread : { ...thread, title };

/** The thread, archived at this time unless it was before. */
export const archived = (thread: Thread, at: number): Thread =>
  thread.time.archived === undefined ? { ...thread, time: { ...thread.time, archived: at } } : thread;

/** The thread, not archived. */
export const unarchived = (thread: Thread): Thread => {
  const { archived: at, ...time } = thread.time;
  return at === undefined ? thread : { ...thread, time };
};

/** True where both say the same of what can be changed. */
export const isSameThread = (one: Thread, other: Thread): boolean =>
  one.title === other.title && one.time.archived === other.time.archived;

/** The thread with the number of its prompts that wait. */
export const withQueued = (thread: Thread, queued: number): Thread =>
  queued === 0 ? thread : { ...thread, queued };

/** The thread without that number. */
export const withoutQueued = ({ queued: _, ...thread }: Thread): Thread => thread;

/** True where both say the same of a thread but when it was used. */
export const isSameButUse = (one: Thread, other: Thread): boolean => toUnused(one) === toUnused(other);

const toUnused = (thread: Thread): string =>
  JSON.stringify({ ...thread, time: { ...thread.time, updated: 0 } });
