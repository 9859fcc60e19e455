import { ahpEvents } from "@harnesskit/protocol/ahp";
import { checkEvent, wrongKind } from "./check-event.ts";
import { applyContract } from "./contracts.ts";
import type { AnyDecision } from "./decider.ts";
import type { Origin } from "./origin.ts";
import { readEvent } from "./parse-params.ts";
import { PendingCall } from "./pending-call.ts";
import { handshakeRequired, Refusal } from "./refusal.ts";
import type { ServerParts } from "./server-parts.ts";
import { cancelled } from "./supervisor.ts";

/**
 * `ahp/event` as a notification. Gives a refusal where no handler will see it. One that is accepted is taken: the state
 * has it at once, the handler in its turn, and neither waits for anybody.
 */
export const takeEvent = <Context>(
  parts: ServerParts<Context>,
  params: unknown,
  origin: Origin<Context>,
): Refusal | undefined => {
  const { limits, clock, audit, supervisor, decider, lanes } = parts;
  const event = readEvent(params, limits);
  if (event instanceof Refusal) return event;
  const handshake = origin.handshakeOf(event.session_id);
  if (!handshake) return handshakeRequired();
  if (ahpEvents[event.event_type].blocking) return wrongKind(event.event_type);
  const checked = checkEvent(event, limits);
  if (checked instanceof Refusal) return checked;
  const unkept = applyContract(parts, origin, checked.event, checked.snapshot);
  if (unkept) return unkept;
  const done = (call: PendingCall<Context>, outcome: AnyDecision | Refusal): void => {
    if (checked.snapshot && !(outcome instanceof Refusal)) return;
    audit.event(checked.event, outcome, { durationMs: clock.now() - call.startedAt });
  };
  const handled = lanes.run(origin.laneOf(event.session_id), () => {
    const call = new PendingCall(origin, handshake, undefined, clock.now());
    if (parts.isClosed()) return done(call, cancelled());
    const outcome = supervisor.watch<AnyDecision | Refusal>(
      call,
      decider.decide(checked.event, call),
      (why) => why,
    );
    return outcome instanceof Promise ? outcome.then((late) => done(call, late)) : done(call, outcome);
  });
  if (handled instanceof Promise) {
    origin.hold();
    void handled.then(() => origin.release());
  }
  return undefined;
};
