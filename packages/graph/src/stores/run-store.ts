import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { StoreError } from "./graph-store.ts";

/** The first items of a list of the session; what the run has added behind them is in the state of the record. */
export interface RunList {
  readonly session_field: string;
  readonly length: number;
}

/** What a run began with, kept so that another process can go on with it. */
export interface RunRecord {
  /** The id of the first invocation of the run. */
  readonly run_id: string;
  readonly correlation_id: string;
  /** Null for a run of no session. */
  readonly session_id: string | null;
  readonly schema_version: string;
  /** The payload of the signal that resumed a paused invocation; null for a run from its beginning. */
  readonly signal_payload: JsonObject | null;
  /** The fields at the beginning: of a list in `session_lists`, only what is behind its first items. */
  readonly state: JsonObject;
  readonly session_lists: Readonly<Record<string, RunList>>;
  /** RFC 3339, UTC, by the clock of the process that began it. */
  readonly began_at: string;
}

/** The error of a node, as it is given to the code around it again. */
export interface RunFailure {
  readonly code: string;
  readonly message: string;
  /** Of the error that caused it; null without one. */
  readonly category: string | null;
}

/**
 * Something that has happened in a run, under the key of its place: nodes of one graph are numbered in the order of their runs.
 * What is `started` and has no later entry may have happened.
 */
export type RunEntry =
  | { readonly kind: "started"; readonly key: string; readonly namespace: readonly string[] }
  | {
      readonly kind: "completed";
      readonly key: string;
      readonly namespace: readonly string[];
      /** Null for a node that takes no step. */
      readonly step: number | null;
      readonly next_step: number;
      /** What the node has returned, before the reducers. */
      readonly update: JsonValue;
    }
  | {
      readonly kind: "failed";
      readonly key: string;
      readonly namespace: readonly string[];
      readonly error: RunFailure;
    }
  | { readonly kind: "effect_started"; readonly key: string; readonly namespace: readonly string[] }
  | { readonly kind: "effect_done"; readonly key: string; readonly result: JsonValue }
  | { readonly kind: "effect_failed"; readonly key: string }
  /** The session was saved in the same write; the lengths of its lists by the fields of the graph. */
  | { readonly kind: "saved"; readonly lengths: Readonly<Record<string, number>> };

/** A run that has not ended, as a store returns it. */
export interface StoredRun extends RunRecord {
  /** In the order in which they were written. */
  readonly entries: readonly RunEntry[];
}

/** A run without its state. */
export type RunSummary = Omit<RunRecord, "state" | "session_lists">;

/** Returns the summary of a record. */
export const runSummary = ({ state: _, session_lists: __, ...summary }: RunRecord): RunSummary => summary;

/** Adds entries to a run, and begins it where a record is given. */
export interface RunAppend {
  readonly kind: "append";
  readonly runId: string;
  /** The record of a run that begins; refused with `run_conflict` if a run has its id. */
  readonly record?: RunRecord | undefined;
  /** How many entries are stored; otherwise `run_conflict`. */
  readonly expectedEntries: number;
  readonly entries: readonly RunEntry[];
}

/** Removes a run that has ended, with its entries. Does nothing if the run does not exist. */
export interface RunEnd {
  readonly kind: "end";
  readonly runId: string;
}

/** A change of a run in a batch. */
export type RunWrite = RunAppend | RunEnd;

/** Which runs `list` returns. Without a field: all. */
export interface RunFilter {
  /** Only runs of this session. */
  readonly sessionId?: string | undefined;
}

/**
 * Where the progress of runs is kept, for graphs with `durability: "node"`. They are written by `GraphStore.commit`, under the leases
 * of their process. Every method rejects with a {@link StoreError}.
 */
export interface RunStore {
  /** The run, or null once it has ended. Later writes never change the result. */
  load(runId: string): Promise<StoredRun | null>;
  /** The runs that have not ended, without their state, the oldest first: those that run now, and those whose process died. */
  list(filter?: RunFilter): Promise<RunSummary[]>;
  /** Gives up a run: removes its record. Does nothing if it does not exist. */
  delete(runId: string): Promise<void>;
}

/** Throws `run_conflict` if an append does not apply to what is stored, null for no run; for implementations of stores. */
export const checkRunAppend = (write: RunAppend, storedEntries: number | null): void => {
  const isNew = write.record !== undefined;
  if (isNew && storedEntries !== null) throw new StoreError("run_conflict", "a run with this id exists");
  if (!isNew && storedEntries === null) throw new StoreError("run_conflict", "no run has this id");
  if ((storedEntries ?? 0) === write.expectedEntries) return;
  const message = `the run has ${storedEntries ?? 0} entries, not ${write.expectedEntries}`;
  throw new StoreError("run_conflict", message);
};
