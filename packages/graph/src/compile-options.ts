import { type Clock, type CreateId, defineLimits, type LimitsOf } from "@harnesskit/wire";
import type { SessionOptions } from "./sessions/session-options.ts";
import type { Fields } from "./state/schema.ts";
import type { GraphStore } from "./stores/graph-store.ts";

/** A finding about a graph that compiles. */
export interface GraphWarning {
  readonly kind:
    | "projection_reducer_round_trip"
    /** A node inside of a fan-out or of branches names `suspend` in its code: its pause ends what runs beside it. */
    | "suspends_beside_others";
  readonly message: string;
}

/** Describes an error that did not fail a run. */
export interface GraphErrorContext {
  readonly kind:
    | "observer_failed"
    | "observer_queue_full"
    /** A tool of a chat graph threw. The model and the user learn only that it failed. */
    | "tool_failed";
  readonly message: string;
}

/** The limits of a graph, with their defaults. */
export const graphLimits = defineLimits({
  /** Nodes that one invocation runs; beyond it the invocation fails with `step_limit_reached`. */
  maxSteps: 100_000,
  /** Events of one invocation that wait for slow observers; more are dropped and reported. */
  maxQueuedEvents: 100_000,
});
export type GraphLimits = LimitsOf<typeof graphLimits>;

/** What survives the end of a run's process; see {@link CompileOptions.durability}. */
export type Durability = "suspend" | "node";

/** How a graph runs. Within another graph, the options of the outer graph apply. */
export interface CompileOptions<F extends Fields = Fields> {
  /** Where sessions and suspensions are kept. @default no sessions, and suspensions in the memory of this graph */
  readonly store?: GraphStore | undefined;
  /** How sessions are kept, if there is a store. @default the whole state, without a version */
  readonly session?: SessionOptions<F> | undefined;
  /**
   * What survives the end of a run's process. `suspend`: its pauses and its end. `node`: also each node that has ended, so that
   * another process continues after it ({@link RecoverOptions}). It costs a write for each node that is not idempotent, needs updates
   * that are JSON, and a store. @default "suspend"
   */
  readonly durability?: Durability | undefined;
  /** Limits to override. @default each as {@link GraphLimits} states */
  readonly limits?: Partial<GraphLimits> | undefined;
  /** Receives the warnings about the graph when it compiles. @default `process.emitWarning`; nothing in browsers */
  readonly onWarning?: ((warning: GraphWarning) => void) | undefined;
  /** Receives errors that do not fail a run. @default `process.emitWarning`, or `reportError` in browsers */
  readonly onError?: ((error: unknown, context: GraphErrorContext) => void) | undefined;
  /** Creates ids of invocations and correlations. @default random UUIDs of version 4 */
  readonly createId?: CreateId | undefined;
  /** Time. @default that of the system */
  readonly clock?: Clock | undefined;
}
