import {
  type AhpEventType,
  ahpEvents,
  ahpMethods,
  type Decision,
  type DecisionFor,
  type QueryParams,
  type QueryResult,
} from "@harnesskit/protocol/ahp";
import { HarnessError, isThenable } from "@harnesskit/wire";
import type { CheckedEvent } from "./check-event.ts";
import type { AhpHandlers, HandlerCall } from "./handlers.ts";
import { parseWith, type Schema } from "./parse-params.ts";
import { handlerFailure, Refusal, toHandlerFailure } from "./refusal.ts";
import type { AhpServerStats } from "./server-stats.ts";

/** A decision of any event's type. */
export type AnyDecision = DecisionFor<AhpEventType>;

type Handle<Context> = (event: CheckedEvent, call: HandlerCall<Context>) => unknown;

/** What answers one type of event. */
interface Slot<Context> {
  readonly type: AhpEventType;
  readonly handle: Handle<Context> | undefined;
  readonly schema: Schema<AnyDecision>;
  /** What it comes to where nobody has a say. */
  readonly unhandled: AnyDecision | Refusal;
}

const allow: Decision = { decision: "allow" };

const notSupported = (name: string): Refusal =>
  handlerFailure("not_supported", `Capability not supported: ${name}`);

const unknownQuery = ({ query_type: type }: QueryParams): QueryResult => ({
  answer: null,
  reason: `No handler of this harness answers queries of type ${JSON.stringify(type.slice(0, 200))}`,
});

const unhandledOf = (type: AhpEventType): AnyDecision | Refusal => {
  const { blocking, specialised } = ahpEvents[type];
  if (!blocking || type === "idle") return allow;
  if (specialised) return notSupported(type);
  return { decision: "block", reason: `No handler of this harness decides ${type}` };
};

export interface DeciderOptions<Context> {
  readonly handlers: AhpHandlers<Context>;
  readonly stats: AhpServerStats;
  /** Told what handlers threw. Must not throw. */
  readonly onFailure: (cause: unknown) => void;
}

/** Asks the handlers, and lets nothing pass that is not a decision of the event's type. Never throws or rejects. */
export class Decider<Context> {
  readonly #options: DeciderOptions<Context>;
  readonly #slots = new Map<AhpEventType, Slot<Context>>();
  readonly #query: ((query: QueryParams, call: HandlerCall<Context>) => unknown) | undefined;

  constructor(options: DeciderOptions<Context>) {
    this.#options = options;
    const { handlers } = options;
    for (const type of Object.keys(ahpEvents) as AhpEventType[]) {
      const own = handlers[type] as Handle<Context> | undefined;
      const fallback = ahpEvents[type].batchable
        ? (handlers.fallback as Handle<Context> | undefined)
        : undefined;
      this.#slots.set(type, {
        type,
        handle: (own ?? fallback)?.bind(handlers),
        schema: ahpEvents[type].decision as Schema<AnyDecision>,
        unhandled: unhandledOf(type),
      });
    }
    this.#query = handlers.query?.bind(handlers);
  }

  decide(
    event: CheckedEvent,
    call: HandlerCall<Context>,
  ): AnyDecision | Refusal | Promise<AnyDecision | Refusal> {
    const slot = this.#slots.get(event.event_type) as Slot<Context>;
    const { handle } = slot;
    if (!handle) return slot.unhandled;
    try {
      const value = handle(event, call);
      if (!isThenable(value)) return this.#toDecision(slot, value);
      return this.#later(value, (late) => this.#toDecision(slot, late));
    } catch (cause) {
      return this.#failed(cause);
    }
  }

  query(
    query: QueryParams,
    call: HandlerCall<Context>,
  ): QueryResult | Refusal | Promise<QueryResult | Refusal> {
    const handle = this.#query;
    if (!handle) return unknownQuery(query);
    const toResult = (value: unknown) =>
      value === undefined
        ? unknownQuery(query)
        : this.#checked(ahpMethods["ahp/query"].result, value, "query");
    try {
      const value = handle(query, call);
      return isThenable(value) ? this.#later(value, toResult) : toResult(value);
    } catch (cause) {
      return this.#failed(cause);
    }
  }

  #later<T>(value: PromiseLike<unknown>, toResult: (value: unknown) => T | Refusal): Promise<T | Refusal> {
    return Promise.resolve(value)
      .then(toResult)
      .catch((cause: unknown) => this.#failed(cause));
  }

  #toDecision(slot: Slot<Context>, value: unknown): AnyDecision | Refusal {
    // Who only takes note of a notification need not say allow.
    if (value === undefined && !ahpEvents[slot.type].blocking) return allow;
    return this.#checked(slot.schema, value, slot.type);
  }

  #checked<T>(schema: Schema<T>, value: unknown, what: string): T | Refusal {
    const result = parseWith(schema, value, `answer of the handler of ${what}`);
    if (!(result instanceof Refusal)) return result;
    this.#options.stats.invalidDecisions++;
    this.#options.onFailure(new HarnessError("invalid_decision", result.message));
    return handlerFailure("invalid_decision", result.message);
  }

  #failed(cause: unknown): Refusal {
    this.#options.stats.handlerFailures++;
    this.#options.onFailure(cause);
    return toHandlerFailure(cause);
  }
}

/** What a decision is in a batch: a failure blocks. */
export const toBatchDecision = (outcome: AnyDecision | Refusal): Decision =>
  outcome instanceof Refusal ? { decision: "block", reason: outcome.message } : (outcome as Decision);
