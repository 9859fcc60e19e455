import {
  type AhpEventType,
  ahpEvents,
  ahpMethods,
  type Decision,
  type DecisionFor,
  type QueryParams,
  type QueryResult,
} from "@harnesskit/protocol/ahp";
import { HarnessError, InvalidArgumentError, isThenable, ProtocolError } from "@harnesskit/wire";
import { decided, decisionSpan, inTrace, readTraceContext, type Span, traced } from "@harnesskit/wire/trace";
import type * as z from "zod";
import type { CheckedEvent } from "./check-event.ts";
import type { AhpHandlers, HandlerCall, MaybePromise } from "./handlers.ts";
import { parseWith } from "./read-params.ts";
import { handlerFailure, toHandlerFailure } from "./refusal.ts";

/** A decision of any event's type. */
export type AnyDecision = DecisionFor<AhpEventType>;

type Handle<Context> = (event: CheckedEvent, call: HandlerCall<Context>) => unknown;

const allow: Decision = { decision: "allow" };

/** Throws `invalid_argument` for a handler that is no function, and for a function that no event has. */
const checkHandlers = (handlers: object): void => {
  if (typeof handlers !== "object") {
    throw new InvalidArgumentError("createAhpServer: handlers must be an object of functions");
  }
  const names = [...Object.keys(ahpEvents), "query", "fallback"];
  for (const name of names) {
    const handler = handlers[name as keyof typeof handlers] as unknown;
    if (handler === undefined || typeof handler === "function") continue;
    throw new InvalidArgumentError(`createAhpServer: handlers.${name} must be a function`);
  }
  for (const [name, value] of Object.entries(handlers)) {
    if (typeof value !== "function" || names.includes(name)) continue;
    const message = `handlers.${name} is not a handler; the handlers are ${names.join(", ")}`;
    throw new InvalidArgumentError(`createAhpServer: ${message}`);
  }
};

/** The decision where no handler decides. Throws for an event that only a handler can decide. */
const undecided = (type: AhpEventType): AnyDecision => {
  const { blocking, specialised } = ahpEvents[type];
  if (!blocking || type === "idle") return allow;
  if (specialised) throw handlerFailure("not_supported", `Capability not supported: ${type}`);
  return { decision: "block", reason: `No handler of this harness decides ${type}` };
};

const unknownQuery = ({ query_type: type }: QueryParams): QueryResult => ({
  answer: null,
  reason: `No handler of this harness answers queries of type ${JSON.stringify(type.slice(0, 200))}`,
});

/** Asks the handlers, and accepts only a decision of the event's type. What it throws is a `ProtocolError`. */
export class Decider<Context> {
  readonly #onError: (error: unknown) => void;
  readonly #handles = new Map<AhpEventType, Handle<Context>>();
  readonly #query: ((query: QueryParams, call: HandlerCall<Context>) => unknown) | undefined;

  /** @param onError Must not throw. */
  constructor(handlers: AhpHandlers<Context>, onError: (error: unknown) => void) {
    this.#onError = onError;
    checkHandlers(handlers);
    for (const type of Object.keys(ahpEvents) as AhpEventType[]) {
      const fallback = ahpEvents[type].batchable ? handlers.fallback : undefined;
      const handle = (handlers[type] ?? fallback) as Handle<Context> | undefined;
      if (handle) this.#handles.set(type, handle.bind(handlers));
    }
    this.#query = handlers.query?.bind(handlers);
  }

  decide(event: CheckedEvent, call: HandlerCall<Context>): MaybePromise<AnyDecision> {
    const { event_type: eventType, session_id: sessionId, agent_id: agentId, payload, metadata } = event;
    if (!ahpEvents[eventType].blocking) return inTrace(metadata, () => this.#decide(event, call));
    const start = () => ({
      ...decisionSpan("harness", { eventType, sessionId, agentId, input: payload }),
      parent: readTraceContext(metadata),
    });
    return traced(start, (span) => {
      const decision = this.#decide(event, call);
      return span === undefined ? decision : recordDecision(span, decision);
    });
  }

  #decide(event: CheckedEvent, call: HandlerCall<Context>): MaybePromise<AnyDecision> {
    const type = event.event_type;
    const handle = this.#handles.get(type);
    if (!handle) return undecided(type);
    return this.#ask(
      () => handle(event, call),
      (value) => {
        // A handler that only takes note of a notification need not say allow.
        if (value === undefined && !ahpEvents[type].blocking) return allow;
        return this.#checked(ahpEvents[type].decision as z.ZodType<AnyDecision>, value, type);
      },
    );
  }

  query(query: QueryParams, call: HandlerCall<Context>): MaybePromise<QueryResult> {
    const handle = this.#query;
    if (!handle) return unknownQuery(query);
    return this.#ask(
      () => handle(query, call),
      (value) =>
        value === undefined
          ? unknownQuery(query)
          : this.#checked(ahpMethods["ahp/query"].result, value, "query"),
    );
  }

  #ask<T>(handle: () => unknown, check: (value: unknown) => T): MaybePromise<T> {
    let value: unknown;
    let isLater: boolean;
    try {
      value = handle();
      isLater = isThenable(value);
    } catch (cause) {
      throw this.#failed(cause);
    }
    if (!isLater) return check(value);
    return Promise.resolve(value).then(check, (cause: unknown) => {
      throw this.#failed(cause);
    });
  }

  #checked<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
    try {
      return parseWith(schema, value, `answer of the handler of ${what}`);
    } catch (cause) {
      const message = ProtocolError.isInstance(cause) ? cause.message : "";
      this.#onError(new HarnessError("invalid_decision", message));
      throw handlerFailure("invalid_decision", message);
    }
  }

  #failed(cause: unknown): ProtocolError {
    this.#onError(cause);
    return toHandlerFailure(cause);
  }
}

const recordDecision = async (span: Span, deciding: MaybePromise<AnyDecision>): Promise<AnyDecision> => {
  const decision = await deciding;
  span.set(decided(decision.decision, ruleOf(decision)));
  return decision;
};

/** The rule that a policy names in the metadata of its decision. */
const ruleOf = (decision: AnyDecision): string | undefined => {
  const { metadata } = decision as { readonly metadata?: { readonly [name: string]: unknown } };
  const { rule } = (metadata?.policy ?? {}) as { readonly rule?: unknown };
  return typeof rule === "string" ? rule : undefined;
};

/** What a decision is in a batch: a failure blocks. */
export const toBatchDecision = (outcome: AnyDecision | ProtocolError): Decision =>
  ProtocolError.isInstance(outcome) ? { decision: "block", reason: outcome.message } : (outcome as Decision);
