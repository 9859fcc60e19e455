import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { GraphError } from "../errors.ts";
import { isList, toList } from "../list.ts";
import type { Host } from "../run/host.ts";
import { besideSession } from "../sessions/beside-session.ts";
import type { SessionBinding } from "../sessions/session-binding.ts";
import { loadFields, loadKnown } from "../state/apply.ts";
import type { Snapshot } from "../state/snapshot.ts";
import { plainCopy } from "../state/stored-json.ts";
import type { RunRecord, StoredRun } from "../stores/run-store.ts";
import type { StoredList } from "../stores/session-store.ts";

/** Why a run cannot be recovered. */
type Reason = "unknown" | "running" | "schema_changed" | "graph_changed" | "state_invalid" | "other_payload";

export const invalidRun = (reason: Reason, message: string, cause?: unknown): GraphError =>
  new GraphError("run_record_invalid", message, { data: { reason }, cause });

/** A run as it begins. Lists that the session has already are not kept again. Throws `run_persistence_failed`. */
export const toRunRecord = (
  { clock, sessions }: Host,
  facts: Pick<RunRecord, "run_id" | "correlation_id" | "session_id" | "signal_payload">,
  entry: Snapshot,
  session: SessionBinding | undefined,
): RunRecord => {
  const fields = new Map(session === undefined ? [] : sessions.fields);
  const sessionCell = (name: string) => session?.cellOf(name);
  const { state, session_lists } = besideSession(entry, fields, sessionCell, "run_persistence_failed");
  return {
    ...facts,
    schema_version: sessions.schemaVersion,
    // A resumed run has its state in the record of its pause.
    state: facts.signal_payload === null ? plainCopy<JsonObject>(state) : {},
    session_lists,
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

/** The state that a run began with. Throws `run_record_invalid` or `session_write_conflict`. */
export const entryOf = (
  { plan, sessions }: Host,
  run: StoredRun,
  session: SessionBinding | undefined,
): Snapshot => {
  const { schema_version: from } = run;
  const { schemaVersion: to } = sessions;
  if (from !== to) {
    const message = `the run began with version "${from}" of the schema and this graph has "${to}": recover it with that graph`;
    throw invalidRun("schema_changed", message);
  }
  const values: Record<string, unknown> = { ...run.state };
  for (const [name, list] of sessionListsOf(run, session)) {
    values[name] = toList(list, (run.state[name] ?? []) as JsonValue[]);
  }
  return loadKnown(plan, values, loadFields, (message, cause) => invalidRun("state_invalid", message, cause));
};
