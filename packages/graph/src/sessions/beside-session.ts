import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { GraphErrorCode } from "../errors.ts";
import { commonLength, isList } from "../list.ts";
import type { Snapshot } from "../state/snapshot.ts";
import { demandJson } from "../state/stored-json.ts";
import type { RunList } from "../stores/run-store.ts";
import type { StoredList } from "../stores/session-store.ts";

/**
 * A state as it is kept beside its session: of a list that the session has, only what is behind their common beginning.
 * `sessionFields` are the names of fields in the session, `sessionCell` is what it has under one. Throws an error with this code
 * for what is not JSON.
 */
export const besideSession = (
  snapshot: Snapshot,
  sessionFields: ReadonlyMap<string, string>,
  sessionCell: (name: string, cell: unknown) => unknown,
  code: GraphErrorCode,
): {
  readonly state: Record<string, JsonValue | StoredList>;
  readonly session_lists: Record<string, RunList>;
} => {
  const state: Record<string, JsonValue | StoredList> = {};
  const session_lists: Record<string, RunList> = {};
  for (const name of snapshot.schema.specs.keys()) {
    let cell = snapshot.cell(name);
    const session_field = sessionFields.get(name);
    if (isList(cell) && session_field !== undefined) {
      const base = sessionCell(session_field, cell);
      const length = isList(base) ? commonLength(cell, base) : 0;
      session_lists[name] = { session_field, length };
      if (length === cell.length) continue;
      cell = cell.slice(length);
    }
    if (cell === undefined) continue;
    demandJson(name, cell, code);
    state[name] = cell as JsonValue;
  }
  return { state, session_lists };
};
