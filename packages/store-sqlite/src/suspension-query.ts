import type { SuspensionFilter } from "@harnesskit/graph";
import type { SqlValue } from "./statement.ts";
import { columnNames } from "./suspension-row.ts";
import { toKey } from "./text-key.ts";

/** A filter as a statement and its values, the one suspended first at the head. What an index is made for stands in the text. */
export const toQuery = ({ status, sessionId, signalId, isDelivered }: SuspensionFilter) => {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const demand = (condition: string, value?: string) => {
    conditions.push(condition);
    if (value !== undefined) values.push(toKey(value));
  };
  if (isDelivered !== undefined) demand(`is_delivered = ${isDelivered ? 1 : 0}`);
  if (signalId !== undefined) demand("signal_id = ?", signalId);
  if (sessionId === null) demand("session_id IS NULL");
  else if (sessionId !== undefined) demand("session_id = ?", sessionId);
  // The plus keeps SQLite from going through all that have the status where another condition fits only a few.
  if (status !== undefined) demand(conditions.length === 0 ? "status = ?" : "+status = ?", status);
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  const sql = `SELECT ${columnNames.join(", ")} FROM suspensions${where} ORDER BY suspended_at, number`;
  return { sql, values };
};
