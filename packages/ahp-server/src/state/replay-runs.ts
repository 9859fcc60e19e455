import { type AhpServerLimits, resolveLimits } from "../limits.ts";
import { ServerStats } from "../server-stats.ts";
import type { RunState } from "./run-state.ts";
import { RunStates } from "./run-states.ts";
import type { StateRecord } from "./state-record.ts";

export interface ReplayOptions {
  /** Of the server whose records they are. @default see each limit */
  readonly limits?: Partial<AhpServerLimits> | undefined;
}

/**
 * Replays what a store has kept: gives the run that each record is about, as it was after it. The last state of each run
 * is the one that a server has that begins with these records. Throws `invalid_argument` for limits that cannot be used.
 */
export function* replayRuns(
  records: Iterable<StateRecord>,
  { limits = {} }: ReplayOptions = {},
): Generator<RunState, void> {
  const states = new RunStates({
    limits: resolveLimits(limits).limits,
    stats: new ServerStats(),
    onError: () => {},
  });
  for (const record of records) {
    const state = states.restore(record);
    if (state) yield state;
  }
}
