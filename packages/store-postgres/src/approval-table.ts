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

const fieldsOf = ({ status, effect, agent, session }: ApprovalFilter) => ({ status, effect, agent, session });

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

  async get(id: string): Promise<ApprovalRecord | undefined> {
    return (await this.records("id = $1", toTextKey(id)))[0];
  }

  identical({ agent, session, digest }: IdenticalKey, limit: number): Promise<ApprovalRecord[]> {
    const where = "agent = $1 AND session = $2 AND digest = $3 ORDER BY seq DESC LIMIT $4";
    return this.records(where, toTextKey(agent), toTextKey(session), digest, limit);
  }

  page(filter: ApprovalFilter, afterSeq: number, limit: number): Promise<ApprovalRecord[]> {
    const where = new Conditions().add("seq > ?", afterSeq).addEqual(fieldsOf(filter));
    return this.records(`${where} ORDER BY seq LIMIT ${limit}`, ...where.values);
  }

  due(nowMs = this.#nowMs?.()): Promise<ApprovalRecord[]> {
    const order = "ORDER BY due_at, seq";
    if (nowMs === undefined) return this.records(`due_at <= ${nowSql} ${order}`);
    return this.records(`due_at <= $1 ${order}`, nowMs);
  }

  async countOpen(of: Pick<IdenticalKey, "agent" | "session"> | undefined): Promise<number> {
    const where = new Conditions().addEqual(fieldsOf(of ?? {}));
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

/** What happens to the records that a write has put, within its transaction. */
export type OnPut = (query: Query, record: ApprovalRecord) => Promise<void>;

/**
 * The approvals of a database, within one transaction of a write: it holds the row of the counter, so that no other write
 * happens meanwhile.
 */
export class LockedApprovalTable extends ApprovalReader implements ApprovalTable {
  readonly #maxLength: number;
  readonly #onPut: OnPut | undefined;
  readonly #counter: { last: number; records: number };
  readonly #lockedAtMs: number;
  /** The numbers of the records that were read or put. */
  readonly #known = new Map<string, number>();

  private constructor(
    query: Query,
    { nowMs, maxLength, onPut }: LockOptions,
    { last, records, now }: { last: number; records: number; now: number },
  ) {
    super(query, nowMs);
    this.#maxLength = maxLength;
    this.#onPut = onPut;
    this.#counter = { last, records };
    this.#lockedAtMs = nowMs?.() ?? now;
  }

  /** Waits until other writes have ended, and begins one. */
  static async lock(query: Query, options: LockOptions): Promise<LockedApprovalTable> {
    const select = `SELECT last, records FROM store.approval_counter FOR UPDATE`;
    let [row] = await query(select);
    if (row === undefined) {
      await query(
        "INSERT INTO store.approval_counter (one, last, records) VALUES (true, 0, 0) ON CONFLICT DO NOTHING",
      );
      [row] = await query(select);
    }
    // After the lock: times are in the order of the writes.
    const [time] = await query(`SELECT ${nowSql} AS now`);
    const [last, records] = [safeNumber(row?.last), safeNumber(row?.records)];
    return new LockedApprovalTable(query, options, { last, records, now: safeNumber(time?.now) });
  }

  /** Stores the counter. The last step of a write. */
  async finish(): Promise<void> {
    const { last, records } = this.#counter;
    await this.query("UPDATE store.approval_counter SET last = $1, records = $2", last, records);
  }

  protected override async records(where: string, ...values: SqlValue[]): Promise<ApprovalRecord[]> {
    const found = await super.records(where, ...values);
    for (const { id, seq } of found) this.#known.set(id, seq);
    return found;
  }

  override async now(): Promise<number> {
    return this.#lockedAtMs;
  }

  nextSeq(): number {
    return ++this.#counter.last;
  }

  /** Compare and set: rejects with `busy`, and the transaction begins anew, if the record is not as it was read. */
  async put(record: ApprovalRecord): Promise<void> {
    const { id, seq, origin, digest, status, effect, changedAtMs } = record;
    const json = new StoredJson(this.#maxLength).text(record, "the record");
    const [row] = await this.query(
      `INSERT INTO store.approvals AS a
         (id, seq, agent, session, digest, status, effect, changed_at, due_at, unused_grant, record)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
       ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, status = excluded.status, effect = excluded.effect,
         changed_at = excluded.changed_at, due_at = excluded.due_at, unused_grant = excluded.unused_grant,
         record = excluded.record WHERE a.seq = $12
       RETURNING a.xmax = 0 AS is_new`,
      ...[toTextKey(id), seq, toTextKey(origin.agent), toTextKey(origin.session), digest, status, effect],
      ...[changedAtMs, dueAtMs(record) ?? null, unusedGrantOf(record), json, this.#known.get(id) ?? -1],
    );
    if (row === undefined) throw databaseError("busy");
    if (row.is_new === true) this.#counter.records++;
    this.#known.set(id, seq);
    await this.#onPut?.(this.query, record);
  }

  async dropEnded(beforeMs: number, keep: number): Promise<void> {
    await this.#drop("due_at IS NULL AND changed_at < $1", beforeMs);
    const surplus = this.#counter.records - keep;
    if (surplus <= 0) return;
    const oldest = "SELECT seq FROM store.approvals WHERE due_at IS NULL ORDER BY seq LIMIT $1";
    await this.#drop(`seq IN (${oldest})`, surplus);
  }

  async #drop(where: string, value: number): Promise<void> {
    const dropped = await this.query(`DELETE FROM store.approvals WHERE ${where} RETURNING 1`, value);
    this.#counter.records -= dropped.length;
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

export interface LockOptions {
  /** The time that judges. @default the database's */
  readonly nowMs?: (() => number) | undefined;
  /** Characters of the JSON of a record. */
  readonly maxLength: number;
  readonly onPut?: OnPut | undefined;
}
