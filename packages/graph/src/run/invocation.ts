import type { CompletedPosition } from "@harnesskit/protocol/chat";
import type { Plan } from "../compile/plan.ts";
import { GraphError } from "../errors.ts";
import type { EventQueue } from "../observers/event-queue.ts";
import type { NodeEvent } from "../observers/node-event.ts";
import type { Registration } from "../observers/observers.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { AmbientScope } from "./ambient.ts";
import type { InvocationInfo } from "./context.ts";
import { unsupported } from "./unsupported.ts";

export interface InvocationOptions {
  readonly info: InvocationInfo;
  readonly plan: Plan;
  readonly observers: readonly Registration[];
  readonly events: EventQueue | undefined;
  /** Called with each event as it happens; must not throw. */
  readonly onEvent: ((event: NodeEvent) => void) | undefined;
  readonly maxSteps: number;
  /** Where an earlier part of the invocation stopped. */
  readonly nextStep: number;
  readonly positions: readonly CompletedPosition[];
  /** Saves the session; gives false where there is none to save. */
  readonly saveSession: (state: Snapshot) => Promise<boolean>;
}

/** What all graphs of one invocation share. */
export class Invocation {
  readonly info: InvocationInfo;
  readonly observers: readonly Registration[];
  readonly events: EventQueue | undefined;
  readonly saveSession: (state: Snapshot) => Promise<boolean>;
  readonly #attached = new Map<Plan, readonly Registration[]>();
  readonly #onEvent: InvocationOptions["onEvent"];
  readonly #maxSteps: number;
  readonly #positions: CompletedPosition[];
  #nextStep: number;

  constructor(options: InvocationOptions) {
    this.info = options.info;
    this.observers = options.observers;
    this.events = options.events;
    this.saveSession = options.saveSession;
    this.#onEvent = options.onEvent;
    this.#maxSteps = options.maxSteps;
    this.#positions = [...options.positions];
    this.#nextStep = options.nextStep;
    for (const plan of options.plan.family) {
      if (plan.observers.length > 0) this.#attached.set(plan, plan.observers);
    }
  }

  /** The observers that were attached to a graph when the invocation began. */
  observersOf(plan: Plan): readonly Registration[] {
    return this.#attached.get(plan) ?? [];
  }

  /** True where events of a graph with these observers are wanted. */
  isTold(observers: readonly Registration[]): boolean {
    return observers.length > 0 || this.#onEvent !== undefined;
  }

  tell(event: NodeEvent, to: readonly Registration[]): void {
    this.#onEvent?.(event);
    if (to.length > 0) this.events?.push({ event, to });
  }

  /** The number of the next node that runs. Throws `step_limit_reached`. */
  takeStep(): number {
    if (this.#nextStep >= this.#maxSteps) {
      throw new GraphError("step_limit_reached", `maxSteps of ${this.#maxSteps} is reached`);
    }
    return this.#nextStep++;
  }

  get nextStep(): number {
    return this.#nextStep;
  }

  complete(namespace: readonly string[], step: number): void {
    this.#positions.push({ namespace: [...namespace], step });
  }

  get positions(): readonly CompletedPosition[] {
    return this.#positions;
  }

  /** What asynchronous code outside of a node's body sees. */
  scope(): AmbientScope {
    return {
      info: this.info,
      suspend() {
        throw unsupported("only the body of a node can suspend");
      },
    };
  }
}
