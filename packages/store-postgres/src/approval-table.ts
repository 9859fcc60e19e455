import {
  type ApprovalFilter,
  type ApprovalRecord,
  type ApprovalTable,
  dueAtMs,
  type Grant,
  type IdenticalKey,
} from "@harnesskit/approvals";
import { toTextKey } from "@harnesskit/wire/json";
import { Conditions } from "./conditions.ts";
import type { SqlValue, Transaction } from "./database.ts";
import { databaseError } from "./failures.ts";
import { nowSql, readJson, safeNumber } from "./rows.ts";
import { StoredJson } from "./stored-json.ts";

type Query = Transaction["query"];

/** The grant that has approved a record, until it is taken. */
const unusedGrantOf = ({ answer, status, taken }: ApprovalRecord): string | null =>
  answer?.grantId !== undefined && status === "approved" && taken === undefined
    ? toTextKey(answer.grantId)
    : null;

const filterColumns = ({ status, effect, agent, session }: ApprovalFilter) => ({
  status,
  effect,
  agent,
  session,
});

/** The approvals of a database, for reading: each method is one statement. */
export class ApprovalReader {
  protected readonly query: Query;
  readonly #nowMs: (() => number) | undefined;

  /** @param nowMs the time that judges; the database's if undefined */
  constructor(query: Query, nowMs: (() => number) | undefined) {
    this.query = query;
    this.#nowMs = nowMs;
  }

  protected async records(where: string, ...values: SqlValue[]): Promise<ApprovalRecord[]> {
    const rows = await this.query(`SELECT record FROM store.approvals WHERE ${where}`, ...values);
    return rows.map(({ record }) => readJson(record) as unknown as ApprovalRecord);
  }

  async now(): Promise<number> {
    if (this.#nowMs !== undefined) return this.#nowMs();
    const [row] = await this.query(`SELECT ${nowSql} AS now`);
    return safeNumber(row?.now);
  }

  async lastSeq(): Promise<number> {
    const [row] = await this.query("SELECT coalesce(max(seq), 0) AS seq FROM store.approvals");
    return safeNumber(row?.seq);
  }

  async get(id: string): Promise<ApprovalRecord | undefined> {
    return (await this.records("id = $1", toTextKey(id)))[0];
  }

  identical({ agent, session, digest }: IdenticalKey, limit: number): Promise<ApprovalRecord[]> {
    const where = "agent = $1 AND session = $2 AND digest = $3 ORDER BY seq DESC LIMIT $4";
    return this.records(where, toTextKey(agent), toTextKey(session), digest, limit);
  }

  page(filter: ApprovalFilter, afterSeq: number, limit: number): Promise<ApprovalRecord[]> {
    const where = new Conditions().add("seq > ?", afterSeq).addEqual(filterColumns(filter));
    return this.records(`${where} ORDER BY seq LIMIT ${limit}`, ...where.values);
  }

  due(nowMs = this.#nowMs?.()): Promise<ApprovalRecord[]> {
    const order = "ORDER BY due_at, seq";
    if (nowMs === undefined) return this.records(`due_at <= ${nowSql} ${order}`);
    return this.records(`due_at <= $1 ${order}`, nowMs);
  }

  async countOpen(of: Pick<IdenticalKey, "agent" | "session"> | undefined): Promise<number> {
    const where = new Conditions().addEqual(filterColumns(of ?? {}));
    const sql = `SELECT count(*) AS count FROM store.approvals WHERE due_at IS NOT NULL AND ${where}`;
    const [row] = await this.query(sql, ...where.values);
    return safeNumber(row?.count);
  }

  unusedOfGrant(grantId: string): Promise<ApprovalRecord[]> {
    return this.records("unused_grant = $1 ORDER BY seq", toTextKey(grantId));
  }

  async grants(): Promise<Grant[]> {
    const rows = await this.query("SELECT body FROM store.approval_grants ORDER BY seq");
    return rows.map(({ body }) => readJson(body) as unknown as Grant);
  }
}

/**
 * The approvals of a database, within one transaction of a write: it holds the row of the counter, so that no other write
 * happens meanwhile.
 */
export class LockedApprovalTable extends ApprovalReader implements ApprovalTable {
  readonly #maxLength: number;
  readonly #counter: { last: number; records: number };
  readonly #locked: Locked;
  /** Whether the counter in the database is behind. */
  #isCounterDue = false;
  /** Whether a record was changed, so that what the lock has read may have changed. */
  #isChanged = false;
  /** The numbers of the records that were read or put. */
  readonly #known = new Map<string, number>();

  private constructor(query: Query, { nowMs, maxLength }: LockOptions, locked: Locked) {
    super(query, nowMs);
    this.#maxLength = maxLength;
    this.#counter = { last: locked.last, records: locked.records };
    this.#locked = { ...locked, nowMs: nowMs?.() ?? locked.nowMs };
  }

  /** Waits until other writes have ended, and begins one. */
  static async lock(query: Query, options: LockOptions): Promise<LockedApprovalTable> {
    // The first of all that time changes: mostly there is nothing to do, and no other statement asks. They are read before the lock is
    // there, so that a change of the last moment is found by the next write.
    const select = `
      SELECT last, records, ${nowSql} AS now,
        (SELECT min(due_at) FROM store.approvals WHERE due_at IS NOT NULL) AS first_due,
        (SELECT min(changed_at) FROM store.approvals WHERE due_at IS NULL) AS first_ended
      FROM store.approval_counter FOR UPDATE`;
    let [row] = await query(select);
    if (row === undefined) {
      await query(
        "INSERT INTO store.approval_counter (one, last, records) VALUES (true, 0, 0) ON CONFLICT DO NOTHING",
      );
      [row] = await query(select);
    }
    return new LockedApprovalTable(query, options, {
      last: safeNumber(row?.last),
      records: safeNumber(row?.records),
      nowMs: safeNumber(row?.now),
      firstDueMs: row?.first_due == null ? Number.POSITIVE_INFINITY : safeNumber(row.first_due),
      firstEndedMs: row?.first_ended == null ? Number.POSITIVE_INFINITY : safeNumber(row.first_ended),
    });
  }

  /** Stores the counter where a record has not done so. The last step of a write. */
  async finish(): Promise<void> {
    if (!this.#isCounterDue) return;
    const { last, records } = this.#counter;
    await this.query("UPDATE store.approval_counter SET last = $1, records = $2", last, records);
  }

  protected override async records(where: string, ...values: SqlValue[]): Promise<ApprovalRecord[]> {
    const found = await super.records(where, ...values);
    for (const { id, seq } of found) this.#known.set(id, seq);
    return found;
  }

  override async now(): Promise<number> {
    return this.#locked.nowMs;
  }

  nextSeq(): number {
    this.#isCounterDue = true;
    return ++this.#counter.last;
  }

  override due(nowMs = this.#locked.nowMs): Promise<ApprovalRecord[]> {
    if (!this.#isChanged && this.#locked.firstDueMs > nowMs) return Promise.resolve([]);
    return super.due(nowMs);
  }

  /** Compare and set: rejects with `busy`, and the transaction begins anew, if the record is not as it was read. */
  async put(record: ApprovalRecord): Promise<void> {
    const { id, seq, origin, digest, status, effect, changedAtMs } = record;
    const json = new StoredJson(this.#maxLength).text(record, "the record");
    const { last, records } = this.#counter;
    const [row] = await this.query(
      `WITH written AS (INSERT INTO store.approvals AS a
         (id, seq, agent, session, digest, status, effect, changed_at, due_at, unused_grant, record)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
       ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, status = excluded.status, effect = excluded.effect,
         changed_at = excluded.changed_at, due_at = excluded.due_at, unused_grant = excluded.unused_grant,
         record = excluded.record WHERE a.seq = $12
       RETURNING a.xmax = 0 AS is_new
       ), counted AS (
         UPDATE store.approval_counter SET last = $13,
           records = $14 + (SELECT count(*) FROM written WHERE is_new)
       ) SELECT is_new FROM written`,
      ...[toTextKey(id), seq, toTextKey(origin.agent), toTextKey(origin.session), digest, status, effect],
      ...[changedAtMs, dueAtMs(record) ?? null, unusedGrantOf(record), json, this.#known.get(id) ?? -1],
      ...[last, records],
    );
    if (row === undefined) throw databaseError("busy");
    if (row.is_new === true) this.#counter.records++;
    this.#isCounterDue = false;
    this.#isChanged = true;
    this.#known.set(id, seq);
  }

  async dropEnded(beforeMs: number, keep: number): Promise<void> {
    if (this.#isChanged || this.#locked.firstEndedMs < beforeMs) {
      await this.#drop("due_at IS NULL AND changed_at < $1", beforeMs);
    }
    const surplus = this.#counter.records - keep;
    if (surplus <= 0) return;
    const oldest = "SELECT seq FROM store.approvals WHERE due_at IS NULL ORDER BY seq LIMIT $1";
    await this.#drop(`seq IN (${oldest})`, surplus);
  }

  async #drop(where: string, value: number): Promise<void> {
    const dropped = await this.query(`DELETE FROM store.approvals WHERE ${where} RETURNING 1`, value);
    this.#counter.records -= dropped.length;
    if (dropped.length > 0) this.#isCounterDue = true;
  }

  async putGrant(grant: Grant): Promise<void> {
    await this.query(
      `INSERT INTO store.approval_grants (id, seq, body) VALUES ($1, $2, $3)
       ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, body = excluded.body`,
      ...[toTextKey(grant.id), grant.seq, new StoredJson(this.#maxLength).text(grant, "the grant")],
    );
  }

  async removeGrant(id: string): Promise<void> {
    await this.query("DELETE FROM store.approval_grants WHERE id = $1", toTextKey(id));
  }
}

/** What was found with the lock. */
interface Locked {
  readonly last: number;
  readonly records: number;
  readonly nowMs: number;
  /** When time changes a record next, at the earliest. */
  readonly firstDueMs: number;
  /** When the first of those that have ended did so. */
  readonly firstEndedMs: number;
}

export interface LockOptions {
  /** The time that judges. @default the database's */
  readonly nowMs?: (() => number) | undefined;
  /** Characters of the JSON of a record. */
  readonly maxLength: number;
}
