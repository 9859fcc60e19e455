import { ahpEvents } from "@harnesskit/protocol/ahp";
import type { RequestId } from "@harnesskit/protocol/envelope";
import { checkEvent, wrongKind } from "./check-event.ts";
import type { Origin } from "./origin.ts";
import { readEvent, readQuery } from "./parse-params.ts";
import { PendingCall } from "./pending-call.ts";
import { errorReply, handshakeRequired, Refusal } from "./refusal.ts";
import { type Reply, resultReply, type ServerParts } from "./server-parts.ts";

type Answer = Refusal | Reply | Promise<Reply>;

const thenOrNow = <T>(outcome: T | Promise<T>, toReply: (outcome: T) => Reply): Reply | Promise<Reply> =>
  outcome instanceof Promise ? outcome.then(toReply) : toReply(outcome);

const self = <T>(value: T): T => value;

/** `ahp/event` as a request: one blocking event and its decision. Gives a refusal where no handler was asked. */
export const answerEvent = <Context>(
  parts: ServerParts<Context>,
  id: RequestId,
  params: unknown,
  origin: Origin<Context>,
): Answer => {
  const { limits, clock, audit, decisions, supervisor, decider } = parts;
  const event = readEvent(params, limits);
  if (event instanceof Refusal) return event;
  const handshake = origin.handshakeOf(event.session_id);
  if (!handshake) return handshakeRequired();
  if (!ahpEvents[event.event_type].blocking) return wrongKind(event.event_type);
  const checked = checkEvent(event, limits);
  if (checked instanceof Refusal) return checked;
  const call = new PendingCall(origin, handshake, id, clock.now());
  const outcome = supervisor.watch(call, decider.decide(checked.event, call), self<Refusal>);
  return thenOrNow(outcome, (decision) => {
    audit.event(checked.event, decision, { requestId: id, durationMs: clock.now() - call.startedAt });
    if (decision instanceof Refusal) return errorReply(id, decision);
    decisions.add(decision.decision);
    return resultReply(id, decision);
  });
};

/** `ahp/query`. */
export const answerQuery = <Context>(
  parts: ServerParts<Context>,
  id: RequestId,
  params: unknown,
  origin: Origin<Context>,
): Answer => {
  const { limits, clock, audit, stats, supervisor, decider } = parts;
  const query = readQuery(params, limits);
  if (query instanceof Refusal) return query;
  const handshake = origin.handshakeOf(query.session_id);
  if (!handshake) return handshakeRequired();
  const call = new PendingCall(origin, handshake, id, clock.now());
  const outcome = supervisor.watch(call, decider.query(query, call), self<Refusal>);
  return thenOrNow(outcome, (answer) => {
    audit.query(query, answer, { requestId: id, durationMs: clock.now() - call.startedAt });
    if (answer instanceof Refusal) return errorReply(id, answer);
    stats.queries++;
    return resultReply(id, answer);
  });
};
