import type { Thread } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";

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

/** What a later server must know of a thread before it reads its log. */
export interface LeftWork {
  /** How many prompts wait. */
  readonly queued: number;
  /** Whether a turn has begun that a later server goes on with. @default false */
  readonly hasOpenTurn?: boolean;
}

/** The thread with what a later server must know. */
export const withLeftWork = (thread: Thread, { queued, hasOpenTurn }: LeftWork): Thread =>
  defined({ ...thread, queued: queued || undefined, hasOpenTurn: hasOpenTurn || undefined });

/** The thread without that. */
export const withoutLeftWork = ({ queued: _, hasOpenTurn: _open, ...thread }: Thread): Thread => thread;

/** True where both say the same of a thread but when it was used. */
export const isSameButUse = (one: Thread, other: Thread): boolean => toUnused(one) === toUnused(other);

const toUnused = (thread: Thread): string =>
  JSON.stringify({ ...thread, time: { ...thread.time, updated: 0 } });
