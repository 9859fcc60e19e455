import type { Fields } from "@harnesskit/graph";
import { demandDuration } from "./check-options.ts";
import type { Engine } from "./engine-options.ts";

export interface CloseOptions {
  /**
   * How long turns that run may take to end; then they are cancelled, and `close` waits for them for another `abandonAfterMs`.
   * @default no limit
   */
  readonly timeoutMs?: number;
}

/**
 * Lets nothing begin any more, waits for what runs, and then for its events. Rejects with `invalid_argument`, and with
 * `turn_abandoned` where turns do not end.
 */
export const closeEngine = async <F extends Fields>(
  { lanes, graph }: Engine<F>,
  { timeoutMs }: CloseOptions,
): Promise<void> => {
  const limit = timeoutMs === undefined ? undefined : demandDuration(timeoutMs, "timeoutMs");
  lanes.close();
  try {
    await lanes.idle(limit);
  } finally {
    await graph.drain(limit === undefined ? {} : { timeoutMs: limit });
  }
};
