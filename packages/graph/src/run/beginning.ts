import type { Clock, CreateId } from "@harnesskit/wire";
import type { Plan } from "../compile/plan.ts";
import type { Durability } from "../compile-options.ts";
import type { EventQueueOptions } from "../observers/event-queue.ts";
import type { SessionBinding } from "../sessions/session-binding.ts";
import type { SessionPlan } from "../sessions/session-plan.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { GraphStore } from "../stores/graph-store.ts";
import type { RunEntry, RunRecord, StoredRun } from "../stores/run-store.ts";
import type { StoredSuspension } from "../stores/suspension-store.ts";
import type { InvocationInfo } from "./context.ts";
import type { Cursor } from "./run-graph.ts";

/** What a compiled graph provides to its invocations. */
export interface Host extends Pick<EventQueueOptions, "maxQueuedEvents" | "onError" | "queues"> {
  readonly plan: Plan;
  readonly sessions: SessionPlan;
  readonly store: GraphStore;
  /** False without a store: then sessions are not kept. */
  readonly keepsSessions: boolean;
  readonly durability: Durability;
  readonly maxSteps: number;
  readonly clock: Clock;
  readonly createId: CreateId;
}

/** Where a resumed invocation continues, its record, and its state before the signal's payload. */
export interface Resumption {
  readonly cursor: Cursor;
  readonly record: StoredSuspension;
  readonly paused: Snapshot;
}

/** What an invocation begins with. */
export interface Beginning {
  readonly info: InvocationInfo;
  readonly session: SessionBinding | undefined;
  readonly entry: Snapshot;
  readonly resumed?: Resumption;
  /** With `durability: "node"`. */
  readonly run?: BegunRun;
}

/** The run whose progress is recorded: one that begins, or one that an earlier process has begun. */
export interface BegunRun {
  readonly runId: string;
  /** Of a run that begins. */
  readonly record?: RunRecord;
  readonly stored?: StoredRun;
  /** What the caller knows of places of it that are ambiguous. */
  readonly resolved?: readonly RunEntry[];
  /** Why the run does not go on: a node may have done its work and the caller does not know, or the caller gives it up. */
  readonly obstacle?: Error | undefined;
}
