import type { Clock, CreateId } from "@harnesskit/wire";
import type { Plan } from "../compile/plan.ts";
import type { Durability, GraphErrorContext } from "../compile-options.ts";
import type { EventQueue } from "../observers/event-queue.ts";
import type { SessionPlan } from "../sessions/session-plan.ts";
import type { GraphStore } from "../stores/graph-store.ts";

/** What a compiled graph provides to its invocations. */
export interface Host {
  readonly plan: Plan;
  readonly sessions: SessionPlan;
  readonly store: GraphStore;
  /** False without a store: then sessions are not kept. */
  readonly keepsSessions: boolean;
  readonly durability: Durability;
  readonly maxSteps: number;
  readonly maxQueuedEvents: number;
  /** Must not throw. */
  readonly onError: (error: unknown, context: GraphErrorContext) => void;
  /** The queues that have not delivered everything. */
  readonly queues: Set<EventQueue>;
  readonly clock: Clock;
  readonly createId: CreateId;
}
