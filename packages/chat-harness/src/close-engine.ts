import type { Fields } from "@harnesskit/graph";
import { demandDuration } from "./check-options.ts";
import type { Engine } from "./engine-options.ts";

export interface CloseOptions {
  /** How long turns that run may take to end; then they are cancelled, and `close` waits until they have. @default no limit */
  readonly timeoutMs?: number;
}

/** Lets nothing begin any more, waits for what runs, and then for its events. Rejects with `invalid_argument`. */
export const closeEngine = async <F extends Fields>(
  { lanes, graph, clock }: Engine<F>,
  { timeoutMs }: CloseOptions,
): Promise<void> => {
  const limit = timeoutMs === undefined ? undefined : demandDuration(timeoutMs, "timeoutMs");
  lanes.close();
  const stop = limit === undefined ? undefined : clock.after(limit, () => lanes.cancel(), true);
  await lanes.idle();
  stop?.();
  await graph.drain(limit === undefined ? {} : { timeoutMs: limit });
};
