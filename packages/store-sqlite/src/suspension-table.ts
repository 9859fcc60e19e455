import {
  checkSuspensionWrite,
  patchSuspension,
  type StoredSuspension,
  StoreError,
  type SuspensionFilter,
  type SuspensionReceipt,
  type SuspensionWrite,
  suspensionSummary,
} from "@harnesskit/graph";
import type { SuspensionSummary } from "@harnesskit/protocol/chat";
import { fromKey, JsonWriter, numberIn, readJson, type SqlValue, toKey } from "./sql-values.ts";
import type { StoreFile } from "./store-file.ts";

interface Stored {
  readonly number: number;
  /** The revision with which it had ended and was delivered. */
  readonly ended: number | null;
  readonly summary: SuspensionSummary;
}

/** A filter as a statement with its values, the first suspended first. Conditions that an index covers stay literal. */
export const toQuery = ({ status, sessionId, signalId, isDelivered }: SuspensionFilter) => {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const add = (condition: string, value?: string) => {
    conditions.push(condition);
    if (value !== undefined) values.push(toKey(value));
  };
  if (isDelivered !== undefined) add(`is_delivered = ${isDelivered ? 1 : 0}`);
  if (signalId !== undefined) add("signal_id = ?", signalId);
  if (sessionId !== undefined) add("session_id = ?", sessionId);
  // The plus keeps SQLite from the index of the status if another condition matches fewer records.
  if (status !== undefined) add(conditions.length === 0 ? "status = ?" : "+status = ?", status);
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  return { sql: `SELECT summary FROM suspensions${where} ORDER BY suspended_at, number`, values };
};

/** The suspensions of a file. Its methods run within a transaction. */
export class SuspensionTable {
  readonly #file: StoreFile;
  readonly #maxEnded: number;
  /** How many records this store has ended since it last dropped the oldest. */
  #endings = 0;

  /** @param maxEnded how many records that have ended and are delivered are kept */
  constructor(file: StoreFile, maxEnded: number) {
    this.#file = file;
    this.#maxEnded = maxEnded;
  }

  #stored(invocationId: string): Stored | undefined {
    const row = this.#file.get(
      "SELECT number, ended, summary FROM suspensions WHERE invocation_id = ?",
      toKey(invocationId),
    );
    if (row === undefined) return undefined;
    const [number, ended, summary] = row;
    return {
      number: numberIn(number),
      ended: ended === null ? null : numberIn(ended),
      summary: readJson(summary) as unknown as SuspensionSummary,
    };
  }

  read(invocationId: string): StoredSuspension | null {
    const stored = this.#stored(invocationId);
    if (stored === undefined) return null;
    const find = "SELECT frames, completed_positions FROM suspension_states WHERE suspension = ?";
    const [frames, positions] = this.#file.get(find, stored.number) ?? ["[]", "[]"];
    const state = { frames: readJson(frames), completed_positions: readJson(positions) };
    return { ...stored.summary, ...(state as unknown as StoredSuspension) };
  }

  /** Summaries, the first suspended first. */
  list(filter: SuspensionFilter): SuspensionSummary[] {
    const { sql, values } = toQuery(filter);
    const rows = this.#file.all(sql, ...values);
    return rows.map(([summary]) => readJson(summary) as unknown as SuspensionSummary);
  }

  /** The sessions of which an end is not delivered. */
  sessionsWithEnds(): Set<string> {
    const rows = this.#file.all(
      `SELECT DISTINCT session_id FROM suspensions
       WHERE is_delivered = 0 AND status <> 'suspended' AND session_id IS NOT NULL`,
    );
    return new Set(rows.map(([sessionId]) => fromKey(sessionId)));
  }

  delete(invocationId: string): void {
    const stored = this.#stored(invocationId);
    if (stored !== undefined) this.#remove(stored.number);
  }

  #remove(number: number): void {
    this.#removeState(number);
    this.#file.run("DELETE FROM suspensions WHERE number = ?", number);
  }

  #removeState(number: number): void {
    this.#file.run("DELETE FROM suspension_states WHERE suspension = ?", number);
  }

  /** Throws `suspension_conflict`, `signal_taken`, and `invalid_argument` for what cannot be stored. */
  write(write: SuspensionWrite): SuspensionReceipt {
    const isPut = write.kind === "put";
    const id = isPut ? write.record.invocation_id : write.invocationId;
    const stored = this.#stored(id);
    checkSuspensionWrite(write, stored?.summary);
    if (isPut && write.isSignalUnique === true) this.#checkSignal(write.record.descriptor.signal_id, id);
    const added = { revision: this.#file.nextNumber(), updated_at: this.#file.now() };
    const summary = isPut
      ? { ...suspensionSummary(write.record), ...added }
      : patchSuspension(stored?.summary as SuspensionSummary, write, added);
    const isDone = summary.status !== "suspended" && summary.is_delivered;
    const ended = isDone ? (stored?.ended ?? added.revision) : null;
    const json = new JsonWriter();
    const number = this.#put(summary, ended, json.text(summary, "the record"));
    if (isPut) {
      this.#file.run(
        `INSERT INTO suspension_states (suspension, frames, completed_positions) VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET frames = excluded.frames, completed_positions = excluded.completed_positions`,
        number,
        json.text(write.record.frames, "frames"),
        json.text(write.record.completed_positions, "completed_positions"),
      );
    } else if (write.status !== undefined) this.#removeState(number);
    if (ended === added.revision) this.#dropOldest();
    return { revision: added.revision };
  }

  #put(summary: SuspensionSummary, ended: number | null, text: string): number {
    const { invocation_id, session_id, descriptor, status, is_delivered, suspended_at } = summary;
    const columns = ["session_id", "signal_id", "status", "is_delivered", "suspended_at", "ended", "summary"];
    const row = this.#file.get(
      `INSERT INTO suspensions (invocation_id, ${columns.join(", ")}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (invocation_id) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(", ")}
       RETURNING number`,
      ...[toKey(invocation_id), session_id === null ? null : toKey(session_id), toKey(descriptor.signal_id)],
      ...[toKey(status), is_delivered ? 1 : 0, toKey(suspended_at), ended, text],
    );
    return numberIn(row?.[0]);
  }

  #checkSignal(signalId: string, invocationId: string): void {
    const other =
      "SELECT 1 FROM suspensions WHERE signal_id = ? AND status = 'suspended' AND invocation_id <> ? LIMIT 1";
    if (this.#file.get(other, toKey(signalId), toKey(invocationId)) === undefined) return;
    throw new StoreError("signal_taken", `another invocation waits for ${signalId}`);
  }

  /** Drops the oldest records that have ended; not each time, because it counts them all. */
  #dropOldest(): void {
    if (++this.#endings <= this.#maxEnded / 100) return;
    this.#endings = 0;
    const oldest =
      "SELECT number FROM suspensions WHERE ended IS NOT NULL ORDER BY ended DESC LIMIT -1 OFFSET ?";
    for (const [number] of this.#file.all(oldest, this.#maxEnded)) this.#remove(numberIn(number));
  }
}
