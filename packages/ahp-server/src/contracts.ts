import type { CheckedEvent, Snapshot } from "./check-event.ts";
import type { Origin } from "./origin.ts";
import { handlerFailure, type Refusal } from "./refusal.ts";
import type { ServerParts } from "./server-parts.ts";

/**
 * Brings a contract event into the state and on record; nothing for any other event. Gives a refusal where the state
 * cannot be kept: what is accepted is not lost.
 */
export const applyContract = <Context>(
  { states, audit, onError }: ServerParts<Context>,
  { owner, principal }: Origin<Context>,
  event: CheckedEvent,
  snapshot: Snapshot | undefined,
): Refusal | undefined => {
  if (!snapshot) return undefined;
  try {
    const change = states.apply({ owner, principal, agentId: event.agent_id }, snapshot);
    audit.contract(event, snapshot.payload.run_id, change);
    return undefined;
  } catch (error) {
    onError(error);
    return handlerFailure("state_not_kept", "the state of the run cannot be kept; send it again later");
  }
};
