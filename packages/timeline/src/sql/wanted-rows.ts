import type { TimelineChange } from "../timeline-store.ts";
import type { SqlKey, SqlValue } from "./columns.ts";

/** The columns of a kept row; its content may stand after them. */
export const keptColumns = "body, key, writer, bytes";

/** The selectors of changes, by the column that finds them: how many rows each may find, as each change may end one. */
export const wantedRows = (changes: readonly TimelineChange[], keyOf: SqlKey) => {
  const wanted = { key: new Map<string, number>(), approval: new Map<string, number>() };
  for (const change of changes) {
    if (change.type !== "change") continue;
    const { find } = change;
    const [rows, key] =
      "key" in find ? [wanted.key, keyOf(find.key)] : [wanted.approval, keyOf(find.approvalId)];
    rows.set(key, (rows.get(key) ?? 0) + 1);
  }
  return wanted;
};

/** Statements with their values that find the rows which changes may lose. */
export const losableRows = (changes: readonly TimelineChange[], keyOf: SqlKey): [string, ...SqlValue[]][] =>
  changes.flatMap((change): [string, ...SqlValue[]][] => {
    if (change.type !== "lose") return [];
    const all = `SELECT ${keptColumns} FROM store.timeline WHERE state = 'running'`;
    const { of } = change;
    return [of === undefined ? [all] : [`${all} AND session_key = ?`, keyOf(of.agent, of.session)]];
  });
