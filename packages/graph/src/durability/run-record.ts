import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { GraphError, thrownMessage } from "../errors.ts";
import { commonLength, isList, toList } from "../list.ts";
import type { Host } from "../run/beginning.ts";
import type { SessionBinding } from "../sessions/session-binding.ts";
import { loadFields } from "../state/apply.ts";
import type { Snapshot } from "../state/snapshot.ts";
import { demandJson, plainCopy } from "../state/stored-json.ts";
import type { RunList, RunRecord, StoredRun } from "../stores/run-store.ts";
import type { StoredList } from "../stores/session-store.ts";

/** Why a run cannot be recovered. */
type Reason = "unknown" | "running" | "schema_changed" | "graph_changed" | "state_invalid" | "other_payload";

export const invalidRun = (reason: Reason, message: string, cause?: unknown): GraphError =>
  new GraphError("run_record_invalid", message, {
    data: { reason },
    cause,
  });

interface RunFacts {
  readonly runId: string;
  readonly correlationId: string;
  readonly sessionId: string | null;
  readonly signalPayload: JsonObject | null;
}

/** A run as it begins. Lists that the session has already are not kept again. Throws `run_persistence_failed`. */
export const toRunRecord = (
  { clock, sessions }: Host,
  facts: RunFacts,
  entry: Snapshot,
  session: SessionBinding | undefined,
): RunRecord => {
  const state: JsonObject = {};
  const lists: Record<string, RunList> = {};
  const stored = new Map(session === undefined ? [] : sessions.fields);
  for (const name of entry.schema.specs.keys()) {
    const cell = entry.cell(name);
    const sessionField = stored.get(name);
    const base = sessionField === undefined ? undefined : session?.cellOf(sessionField);
    if (isList(cell) && sessionField !== undefined) {
      const length = isList(base) ? commonLength(cell, base) : 0;
      lists[name] = { session_field: sessionField, length };
      if (cell.length > length) state[name] = cell.slice(length) as JsonValue[];
    } else if (cell !== undefined) {
      state[name] = cell as JsonValue;
    }
    if (Object.hasOwn(state, name)) demandJson(name, state[name], "run_persistence_failed");
  }
  return {
    run_id: facts.runId,
    correlation_id: facts.correlationId,
    session_id: facts.sessionId,
    schema_version: sessions.schemaVersion,
    signal_payload: facts.signalPayload,
    // A resumed run has its state in the record of its pause.
    state: facts.signalPayload === null ? plainCopy<JsonObject>(state) : {},
    session_lists: lists,
    began_at: new Date(clock.now()).toISOString(),
  };
};

/**
 * The lists of the session that a run goes on with. Where nothing of the run is in the session, they are those of now, with what
 * was said since. Where the run has saved them itself, they are those of its beginning. Throws `session_write_conflict` if the
 * run has saved its session and another one has written behind that.
 */
export const sessionListsOf = (
  { entries, session_lists: lists }: StoredRun,
  session: SessionBinding | undefined,
): Map<string, StoredList> => {
  const saved = entries.findLast((entry) => entry.kind === "saved");
  const found = new Map<string, StoredList>();
  for (const [name, { session_field: field, length }] of Object.entries(lists)) {
    const current = session?.cellOf(field);
    const list = isList(current) ? (current as StoredList) : toList<JsonValue>([]);
    const own = saved?.lengths[name];
    if (list.length < length || (own !== undefined && own !== list.length)) {
      const message = `the session has ${list.length} items of ${field} and the run knows ${own ?? length}: another run has written it`;
      throw new GraphError("session_write_conflict", message, { fields: [name] });
    }
    found.set(name, own === undefined ? list : toList(list.slice(0, length)));
  }
  return found;
};

const checkSchema = ({ schema_version: from }: RunRecord, to: string): void => {
  if (from === to) return;
  const message = `the run began with version "${from}" of the schema and this graph has "${to}": recover it with that graph`;
  throw invalidRun("schema_changed", message);
};

/** The state that a run began with. Throws `run_record_invalid` or `session_write_conflict`. */
export const entryOf = (
  { plan, sessions }: Host,
  run: StoredRun,
  session: SessionBinding | undefined,
): Snapshot => {
  checkSchema(run, sessions.schemaVersion);
  const lists = sessionListsOf(run, session);
  const values: Record<string, unknown> = { ...run.state };
  for (const [name, list] of lists) {
    const own = (run.state[name] ?? []) as JsonValue[];
    values[name] = toList(list, own);
  }
  const known = Object.entries(values).filter(([name]) => plan.schema.specs.has(name));
  try {
    return loadFields(plan.defaults(), Object.fromEntries(known));
  } catch (cause) {
    throw invalidRun(
      "state_invalid",
      `the stored state is not one of the graph: ${thrownMessage(cause)}`,
      cause,
    );
  }
};
