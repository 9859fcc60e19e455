import type { CheckedEvent, Snapshot } from "./check-event.ts";
import type { Origin } from "./origin.ts";
import type { ServerParts } from "./server-parts.ts";

/** Brings a contract event into the state and on record; nothing for any other event. */
export const applyContract = <Context>(
  { states, audit }: ServerParts<Context>,
  origin: Origin<Context>,
  event: CheckedEvent,
  snapshot: Snapshot | undefined,
): void => {
  if (snapshot) audit.contract(event, snapshot.payload.run_id, states.apply(origin, event, snapshot));
};
