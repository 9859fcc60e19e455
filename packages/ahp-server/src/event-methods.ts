import { ahpEvents, type HandshakeParams } from "@harnesskit/protocol/ahp";
import { ProtocolError } from "@harnesskit/wire";
import { checkEvent, type EventContent, wrongKind } from "./check-event.ts";
import type { AnyDecision } from "./decider.ts";
import {
  type AgentCall,
  EventCall,
  type Method,
  type MethodParts,
  requireHandshake,
  resultOrError,
} from "./method-parts.ts";
import { readEvent } from "./read-params.ts";
import { handlerFailure } from "./refusal.ts";
import type { ContractRecord } from "./state/state-record.ts";

/** An event that may be handled. */
export interface AcceptedEvent extends EventContent {
  readonly handshake: HandshakeParams;
  /** When its handler was asked. */
  startedAt: number;
}

/**
 * Applies a contract event to the state and records it; nothing for any other event. Throws where the state cannot be
 * kept: what is accepted is not lost.
 */
export const applyContract = <Context>(
  { runs, audit, onError }: MethodParts<Context>,
  { context: { owner, principal } }: AgentCall<Context>,
  { event, snapshot }: EventContent,
): void => {
  if (!snapshot) return;
  try {
    const sender = { owner, principal, agent_id: event.agent_id };
    const ignored = runs.apply({ ...sender, ...snapshot } as ContractRecord);
    audit.contract(event, snapshot.payload.run_id, ignored);
  } catch (error) {
    onError(error);
    throw stateNotKept();
  }
};

const stateNotKept = () =>
  handlerFailure("state_not_kept", "the state of the run cannot be kept; send it again later");

/** Settles when the contract events that were applied are kept: no answer says that they are before. */
export const keepContracts = async <Context>({ runs, onError }: MethodParts<Context>): Promise<void> => {
  try {
    await runs.kept();
  } catch (error) {
    onError(error);
    throw stateNotKept();
  }
};

const acceptEvent = <Context>(
  { limits, clock }: MethodParts<Context>,
  params: unknown,
  call: AgentCall<Context>,
): AcceptedEvent => {
  const event = readEvent(params, limits);
  const handshake = requireHandshake(call, event.session_id);
  const isRequest = call.id !== undefined;
  if (ahpEvents[event.event_type].blocking !== isRequest) throw wrongKind(event.event_type);
  const { event: checked, snapshot } = checkEvent(event, limits);
  return { event: checked, snapshot, handshake, startedAt: clock.elapsedMs() };
};

/** `ahp/event` as a request: one blocking event and its decision. */
export const createEventRequest = <Context>(parts: MethodParts<Context>): Method<AcceptedEvent, Context> => {
  const { clock, decider, audit, countDecision } = parts;
  return {
    read: (params, call) => acceptEvent(parts, params, call),
    // It waits for no lane, so that it has started when it was accepted.
    handle: ({ event, handshake }, call) => decider.decide(event, new EventCall(call, handshake)),
    settled(outcome, { event, startedAt }, call) {
      const decision = resultOrError<AnyDecision>(outcome);
      audit.event(event, decision, { requestId: call.id, durationMs: clock.elapsedMs() - startedAt });
      if (!ProtocolError.isInstance(decision)) countDecision(decision.decision);
    },
  };
};

/** `ahp/event` as a notification: the state has it at once, the handler in its turn, and neither is waited for. */
export const createEventNotification = <Context>(
  parts: MethodParts<Context>,
): Method<AcceptedEvent, Context> => {
  const { clock, decider, audit, lanes } = parts;
  return {
    read(params, call) {
      const accepted = acceptEvent(parts, params, call);
      applyContract(parts, call, accepted);
      return accepted;
    },
    lane: ({ event }, call) => lanes.get(call.context.laneOf(event.session_id)),
    handle(accepted, call) {
      accepted.startedAt = clock.elapsedMs();
      return decider.decide(accepted.event, new EventCall(call, accepted.handshake));
    },
    settled(outcome, { event, snapshot, startedAt }) {
      // A contract event that was applied is on record already.
      if (snapshot && !("error" in outcome)) return;
      audit.event(event, resultOrError<AnyDecision>(outcome), { durationMs: clock.elapsedMs() - startedAt });
    },
  };
};
