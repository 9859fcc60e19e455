import { InvalidArgumentError } from "@harnesskit/wire";
import type { EventQueue } from "./event-queue.ts";

export interface DrainOptions {
  /** How long to wait; left out: until it is done. 0 or more. */
  readonly timeoutMs?: number;
}

export interface DrainSummary {
  /** Events that no observer, or not every one, has been told of. */
  readonly undelivered_count: number;
  readonly timeout_reached: boolean;
}

/** Timers take no more than 31 bits. */
const maxTimerMs = 2 ** 31 - 1;

const within = async (done: Promise<unknown>, { timeoutMs }: DrainOptions): Promise<boolean> => {
  if (timeoutMs === undefined) {
    await done;
    return true;
  }
  if (!(timeoutMs >= 0)) throw new InvalidArgumentError("timeoutMs is no duration");
  return new Promise((resolve) => {
    // Keeps the process alive, as whoever waits expects.
    const timer = setTimeout(() => resolve(false), Math.min(timeoutMs, maxTimerMs));
    void done.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
};

/** Waits for the queues as they are now; gives up what is left in them when the time is over. */
export const drainAll = async (
  queues: readonly EventQueue[],
  options: DrainOptions,
): Promise<DrainSummary> => {
  const isDone = await within(Promise.all(queues.map((queue) => queue.idle())), options);
  const undelivered = queues.reduce((sum, queue) => sum + queue.undelivered(), 0);
  if (!isDone) for (const queue of queues) queue.cancel();
  return { undelivered_count: undelivered, timeout_reached: !isDone };
};

/** Waits for the events that the queue has now; gives nothing up. */
export const drainOne = async (
  queue: EventQueue | undefined,
  options: DrainOptions,
): Promise<DrainSummary> => {
  const mark = queue?.mark ?? 0;
  const isDone = await within(queue?.delivered() ?? Promise.resolve(), options);
  return { undelivered_count: isDone ? 0 : (queue?.undelivered(mark) ?? 0), timeout_reached: !isDone };
};
