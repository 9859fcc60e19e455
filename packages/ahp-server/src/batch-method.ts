import { type AhpEvent, ahpEvents, type Decision } from "@harnesskit/protocol/ahp";
import { isThenable, ProtocolError } from "@harnesskit/wire";
import { Lane } from "@harnesskit/wire/rpc";
import { within } from "@harnesskit/wire/time";
import { atIndex, checkBatch } from "./check-event.ts";
import { type AnyDecision, toBatchDecision } from "./decider.ts";
import { type AcceptedEvent, applyContract, keepContracts } from "./event-methods.ts";
import {
  type AgentCall,
  EventCall,
  type Method,
  type MethodParts,
  requireHandshake,
} from "./method-parts.ts";
import { readBatchList, readEvent } from "./read-params.ts";
import { auditOutcomeOf, handlerFailure, toAbortRefusal } from "./refusal.ts";

/** The events of a batch, checked as a whole before any handler is asked. */
interface AcceptedBatch {
  readonly events: readonly AcceptedEvent[];
  startedAt: number;
}

const acceptBatch = <Context>(
  parts: MethodParts<Context>,
  params: unknown,
  call: AgentCall<Context>,
): AcceptedBatch => {
  const { limits, clock } = parts;
  const list = readBatchList(params, limits).map((raw, index): [AhpEvent, AcceptedEvent["handshake"]] => {
    const event = atIndex(index, raw, () => readEvent(raw, limits));
    return [event, requireHandshake(call, event.session_id)];
  });
  const contents = checkBatch(
    list.map(([event]) => event),
    limits,
  );
  for (const [index, content] of contents.entries()) {
    atIndex(index, content.event, () => applyContract(parts, call, content));
  }
  const events = contents.map((content, index) => ({
    ...content,
    startedAt: clock.elapsedMs(),
    handshake: (list[index] as (typeof list)[number])[1],
  }));
  return { events, startedAt: clock.elapsedMs() };
};

/** Decides the events of one batch. */
class BatchRun<Context> {
  readonly #parts: MethodParts<Context>;
  readonly #call: AgentCall<Context>;
  readonly #startedAt: number;

  constructor(parts: MethodParts<Context>, call: AgentCall<Context>, startedAt: number) {
    this.#parts = parts;
    this.#call = call;
    this.#startedAt = startedAt;
  }

  /** The decision of one event: a failure blocks. Never rejects. */
  async decide(accepted: AcceptedEvent, index: number): Promise<Decision> {
    let outcome: AnyDecision | ProtocolError;
    try {
      outcome = await this.#inTurn(accepted, index);
    } catch (error) {
      outcome = this.#toRefusal(error);
    }
    const { audit, clock } = this.#parts;
    const durationMs = clock.elapsedMs() - this.#startedAt;
    audit.event(accepted.event, outcome, { requestId: this.#call.id, batchIndex: index, durationMs });
    return toBatchDecision(outcome);
  }

  /** A notification waits until those of its session before it are handled. */
  #inTurn({ event, handshake }: AcceptedEvent, index: number): Promise<AnyDecision> | AnyDecision {
    const { decider, lanes } = this.#parts;
    const { signal, context } = this.#call;
    const decide = (): AnyDecision | Promise<AnyDecision> => {
      signal.throwIfAborted();
      const decided = decider.decide(event, new EventCall(this.#call, handshake, index));
      return isThenable(decided) ? within(decided, { name: "the decision", signal }) : decided;
    };
    if (ahpEvents[event.event_type].blocking) return decide();
    return lanes.get(context.laneOf(event.session_id)).run(decide);
  }

  #toRefusal(error: unknown): ProtocolError {
    const { signal } = this.#call;
    if (ProtocolError.isInstance(error)) return error;
    if (signal.aborted) return toAbortRefusal(signal.reason);
    this.#parts.onError(error);
    return handlerFailure("internal", "the harness failed");
  }
}

/**
 * `ahp/batch`: a decision for each event, in order, some at the same time. Everything is checked before any handler is
 * asked; what has no decision when the time is over is blocked.
 */
export const createBatchMethod = <Context>(parts: MethodParts<Context>): Method<AcceptedBatch, Context> => {
  const { limits, clock, audit, countDecision } = parts;
  return {
    read: (params, call) => acceptBatch(parts, params, call),
    async handle(batch, call) {
      const run = new BatchRun(parts, call, batch.startedAt);
      const lane = new Lane(limits.maxConcurrentBatchEvents);
      const isKept = batch.events.some(({ snapshot }) => snapshot) ? keepContracts(parts) : undefined;
      // Read below: it may reject while a handler still works.
      isKept?.catch(() => {});
      const decisions = await Promise.all(
        batch.events.map((event, index) => lane.run(() => run.decide(event, index))),
      );
      await isKept;
      for (const { decision } of decisions) countDecision(decision);
      const outcome = call.signal.aborted ? auditOutcomeOf(toAbortRefusal(call.signal.reason)) : "ok";
      audit.batch(call.id, decisions.length, clock.elapsedMs() - batch.startedAt, outcome);
      return { decisions };
    },
  };
};
