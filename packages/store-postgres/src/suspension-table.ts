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
import { toTextKey } from "@harnesskit/wire/json";
import { Conditions } from "./conditions.ts";
import type { Database, SqlValue, Transaction } from "./database.ts";
import { keyIn, readJson, safeNumber, timeIn } from "./rows.ts";
import { StoredJson } from "./stored-json.ts";

const found = ["session_id", "signal_id", "status", "is_delivered", "suspended_at", "ended", "summary"];
const state = ["frames", "completed_positions"];
const none = "[]";

const conditionsOf = ({ status, sessionId, signalId, isDelivered }: SuspensionFilter): Conditions => {
  const where = new Conditions().addEqual({ signal_id: signalId, session_id: sessionId, status });
  return isDelivered === undefined ? where : where.addRaw(isDelivered ? "is_delivered" : "NOT is_delivered");
};

/** What a write has stored. */
export interface WrittenSuspension {
  readonly receipt: SuspensionReceipt;
  /** The session whose invocation has ended, and whose end is not delivered. */
  readonly endedSession?: string;
}

/** The suspensions of a database. */
export class SuspensionTable {
  readonly #database: Database;
  /** How many records this process has ended since it last dropped the oldest. */
  #endings = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  async load(invocationId: string): Promise<StoredSuspension | null> {
    const [row] = await this.#database.query(
      "SELECT summary, frames, completed_positions FROM store.suspensions WHERE invocation_id = $1",
      toTextKey(invocationId),
    );
    if (row === undefined) return null;
    const parts = { frames: readJson(row.frames), completed_positions: readJson(row.completed_positions) };
    const summary = readJson(row.summary) as unknown as SuspensionSummary;
    return { ...summary, ...(parts as unknown as StoredSuspension) };
  }

  /** Summaries, the first suspended first. */
  async list(filter: SuspensionFilter): Promise<SuspensionSummary[]> {
    const where = conditionsOf(filter);
    const sql = `SELECT summary FROM store.suspensions WHERE ${where} ORDER BY suspended_at, number`;
    const rows = await this.#database.query(sql, ...where.values);
    return rows.map(({ summary }) => readJson(summary) as unknown as SuspensionSummary);
  }

  /** Of these sessions, those with an end that is not delivered. */
  async sessionsWithEnds(sessionIds: readonly string[]): Promise<string[]> {
    const rows = await this.#database.query(
      `SELECT DISTINCT session_id FROM store.suspensions
       WHERE session_id = ANY($1) AND NOT is_delivered AND status <> 'suspended'`,
      sessionIds.map(toTextKey),
    );
    return rows.map(({ session_id }) => keyIn(session_id));
  }

  async delete(invocationId: string): Promise<void> {
    const sql = "DELETE FROM store.suspensions WHERE invocation_id = $1";
    await this.#database.query(sql, toTextKey(invocationId));
  }

  /** Throws `suspension_conflict`, `signal_taken`, and `invalid_argument` for what cannot be stored. */
  async write({ query }: Transaction, write: SuspensionWrite): Promise<WrittenSuspension> {
    const isPut = write.kind === "put";
    const id = isPut ? write.record.invocation_id : write.invocationId;
    if (isPut && write.isSignalUnique === true) {
      await this.#checkSignal(query, write.record.descriptor.signal_id, id);
    }
    const [stored] = await query(
      "SELECT ended, summary FROM store.suspensions WHERE invocation_id = $1 FOR UPDATE",
      toTextKey(id),
    );
    const before = stored && (readJson(stored.summary) as unknown as SuspensionSummary);
    checkSuspensionWrite(write, before);
    const [drawn] = await query("SELECT nextval('store.numbers') AS revision, clock_timestamp() AS time");
    const revision = safeNumber(drawn?.revision);
    const added = { revision, updated_at: timeIn(drawn?.time) };
    const summary = isPut
      ? { ...suspensionSummary(write.record), ...added }
      : patchSuspension(before as SuspensionSummary, write, added);
    const isDone = summary.status !== "suspended" && summary.is_delivered;
    const wasEnded = stored?.ended == null ? revision : safeNumber(stored.ended);
    const json = new StoredJson(this.#database.options.limits.maxValueLength);
    const values: SqlValue[] = [
      ...[toTextKey(id), summary.session_id === null ? null : toTextKey(summary.session_id)],
      ...[toTextKey(summary.descriptor.signal_id), summary.status, summary.is_delivered],
      ...[toTextKey(summary.suspended_at), isDone ? wasEnded : null, json.text(summary, "the record")],
    ];
    const columns = [...found];
    if (isPut) {
      columns.push(...state);
      values.push(json.text(write.record.frames, "frames"));
      values.push(json.text(write.record.completed_positions, "completed_positions"));
    } else if (write.status !== undefined) {
      columns.push(...state);
      values.push(none, none);
    }
    const places = columns.map((_, index) => `$${index + 2}`);
    // A second insert of one id fails, and the transaction begins anew.
    await query(
      before === undefined
        ? `INSERT INTO store.suspensions (invocation_id, ${columns.join(", ")}) VALUES ($1, ${places.join(", ")})`
        : `UPDATE store.suspensions SET (${columns.join(", ")}) = (${places.join(", ")}) WHERE invocation_id = $1`,
      ...values,
    );
    if (isDone && wasEnded === revision) await this.#dropOldest(query);
    const isEnd = summary.status !== "suspended" && !summary.is_delivered;
    const receipt = { revision };
    return isEnd && summary.session_id !== null ? { receipt, endedSession: summary.session_id } : { receipt };
  }

  /** Throws `signal_taken`; from then until its end, the transaction is the only one that asks for this signal. */
  async #checkSignal(query: Transaction["query"], signalId: string, invocationId: string): Promise<void> {
    const key = toTextKey(signalId);
    await query(
      "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
      `${this.#database.options.schema}/${key}`,
    );
    const others = await query(
      `SELECT 1 FROM store.suspensions WHERE signal_id = $1 AND status = 'suspended' AND invocation_id <> $2 LIMIT 1`,
      ...[key, toTextKey(invocationId)],
    );
    if (others.length > 0) throw new StoreError("signal_taken", `another invocation waits for ${signalId}`);
  }

  /** Drops the oldest records that have ended; not each time, because it counts them all. */
  async #dropOldest(query: Transaction["query"]): Promise<void> {
    const { maxEnded } = this.#database.options.limits;
    if (++this.#endings <= maxEnded / 100) return;
    this.#endings = 0;
    await query(
      `DELETE FROM store.suspensions WHERE number IN (
         SELECT number FROM store.suspensions WHERE ended IS NOT NULL ORDER BY ended DESC OFFSET $1
         FOR UPDATE SKIP LOCKED
       )`,
      maxEnded,
    );
  }
}
