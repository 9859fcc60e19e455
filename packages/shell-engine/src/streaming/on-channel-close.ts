import type { Channel } from "@harnesskit/wire";

const leaving = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `leave` when a channel closes, at once if it is closed. Returns what ends that. A channel's signal gets one listener,
 * however many streams are read over it.
 */
export const onChannelClose = ({ signal }: Pick<Channel, "signal">, leave: () => void): (() => void) => {
  if (signal.aborted) {
    leave();
    return () => {};
  }
  let all = leaving.get(signal);
  if (!all) {
    const added = new Set<() => void>();
    all = added;
    leaving.set(signal, added);
    const leaveAll = () => {
      for (const one of added) one();
    };
    signal.addEventListener("abort", leaveAll, { once: true });
  }
  all.add(leave);
  return () => void all.delete(leave);
};
