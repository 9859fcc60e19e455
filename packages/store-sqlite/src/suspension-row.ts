import { SharedList, type StoredFrame, type StoredSuspension, type SuspensionPut } from "@harnesskit/graph";
import type { SuspensionStatus, SuspensionSummary } from "@harnesskit/protocol/chat";
import { type JsonWriter, readJson } from "./json-text.ts";
import { numberIn, textIn } from "./numbers.ts";
import type { SqlRow, SqlValue } from "./statement.ts";
import { fromKey, toKey } from "./text-key.ts";

/** The columns of a record, but for its state, in the order of {@link toValues} and {@link summaryOf}. */
export const columnNames = [
  "invocation_id",
  "session_id",
  "signal_id",
  "status",
  "is_delivered",
  "signal",
  "result",
  "rest",
  "suspended_at",
  "updated_at",
  "revision",
] as const;

/** What the store adds to a record. */
export interface Stamp {
  readonly revision: number;
  readonly updatedAt: string;
}

/** A record as values of the columns, and its state. */
export const toValues = ({ record }: SuspensionPut, { revision, updatedAt }: Stamp, json: JsonWriter) => {
  const {
    invocation_id: invocationId,
    session_id: sessionId,
    status,
    signal,
    result,
    is_delivered: isDelivered,
    suspended_at: suspendedAt,
    frames,
    completed_positions: positions,
    ...rest
  } = record;
  const values: SqlValue[] = [
    toKey(invocationId),
    sessionId === null ? null : toKey(sessionId),
    toKey(record.descriptor.signal_id),
    toKey(status),
    isDelivered ? 1 : 0,
    json.text(signal, "signal"),
    json.text(result, "result"),
    json.text(rest, "the record"),
    toKey(suspendedAt),
    updatedAt,
    revision,
  ];
  return {
    values,
    frames: json.text(frames.map(plainFrame), "frames"),
    positions: json.text(positions, "completed_positions"),
  };
};

/** A frame with its lists as arrays. */
const plainFrame = (frame: StoredFrame) => ({
  ...frame,
  state: Object.fromEntries(
    Object.entries(frame.state).map(([name, value]) => [
      name,
      value instanceof SharedList ? value.view : value,
    ]),
  ),
});

type Rest = Omit<
  SuspensionSummary,
  | "invocation_id"
  | "session_id"
  | "status"
  | "is_delivered"
  | "signal"
  | "result"
  | "suspended_at"
  | "updated_at"
  | "revision"
>;

/** A record without its state. */
export const summaryOf = (row: SqlRow): SuspensionSummary => {
  const [
    invocationId,
    sessionId,
    ,
    status,
    isDelivered,
    signal,
    result,
    rest,
    suspendedAt,
    updatedAt,
    revision,
  ] = row;
  return {
    ...(readJson(rest) as unknown as Rest),
    invocation_id: fromKey(textIn(invocationId)),
    session_id: sessionId === null ? null : fromKey(textIn(sessionId)),
    status: fromKey(textIn(status)) as SuspensionStatus,
    is_delivered: numberIn(isDelivered) === 1,
    signal: readJson(signal) as SuspensionSummary["signal"],
    result: readJson(result),
    suspended_at: fromKey(textIn(suspendedAt)),
    updated_at: textIn(updatedAt),
    revision: numberIn(revision),
  };
};

/** A record with its state; one that has ended has none. */
export const recordOf = (row: SqlRow, state: SqlRow | undefined): StoredSuspension => {
  const [frames, positions] = state ?? ["[]", "[]"];
  return {
    ...summaryOf(row),
    frames: readJson(frames) as unknown as StoredSuspension["frames"],
    completed_positions: readJson(positions) as unknown as StoredSuspension["completed_positions"],
  };
};
