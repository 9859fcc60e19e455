import type { Clock } from "@harnesskit/wire";
import type { Plan } from "../compile/plan.ts";
import type { EventQueue } from "../observers/event-queue.ts";
import type { SessionPlan } from "../sessions/session-plan.ts";
import type { GraphStore } from "../stores/graph-store.ts";

/** What a compiled graph lends to its invocations. */
export interface Host {
  readonly plan: Plan;
  readonly sessions: SessionPlan;
  readonly store: GraphStore;
  /** False where no store was given: then sessions are not kept. */
  readonly keepsSessions: boolean;
  readonly maxSteps: number;
  readonly clock: Clock;
  readonly createId: () => string;
  /** Makes the queue of an invocation's events; `enter` calls in the context that observers see. */
  openQueue(invocationId: string, enter: (callback: () => void) => void): EventQueue;
}
