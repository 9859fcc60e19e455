import { type AhpServerLimits, resolveLimits } from "../limits.ts";
import type { Run } from "./run.ts";
import { Runs } from "./runs.ts";
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
): Generator<Run, void> {
  const runs = new Runs({ limits: resolveLimits(limits).limits, onError: () => {} });
  for (const record of records) yield runs.restore(record);
}
