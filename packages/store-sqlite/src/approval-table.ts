import {
  type ApprovalFilter,
  type ApprovalRecord,
  type ApprovalTable,
  dueAtMs,
  type Grant,
  type IdenticalKey,
} from "@harnesskit/approvals";
import { JsonWriter, numberIn, readJson, type SqlRow, type SqlValue, toKey } from "./sql-values.ts";
import type { StoreFile } from "./store-file.ts";

const recordIn = ([value]: SqlRow): ApprovalRecord => readJson(value) as unknown as ApprovalRecord;

const unusedGrantOf = ({ answer, status, taken }: ApprovalRecord): string | null =>
  answer?.grantId !== undefined && status === "approved" && taken === undefined
    ? toKey(answer.grantId)
    : null;

/** The columns of a filter that are given, with their values. */
const conditionsOf = ({ status, effect, agent, session }: ApprovalFilter): [string, string][] =>
  Object.entries({ status, effect, agent, session }).flatMap(([column, value]): [string, string][] =>
    value === undefined ? [] : [[`${column} = ?`, toKey(value)]],
  );

/** The approvals of a file. Its methods run within a transaction. */
export class SqliteApprovalTable implements ApprovalTable {
  readonly #file: StoreFile;

  constructor(file: StoreFile) {
    this.#file = file;
  }

  #records(where: string, ...values: SqlValue[]): ApprovalRecord[] {
    return this.#file.all(`SELECT record FROM approvals WHERE ${where}`, ...values).map(recordIn);
  }

  nextSeq(): number {
    return this.#file.nextNumber();
  }

  lastSeq(): number {
    return numberIn(this.#file.get("SELECT coalesce(max(seq), 0) FROM approvals")?.[0]);
  }

  get(id: string): ApprovalRecord | undefined {
    return this.#records("id = ?", toKey(id))[0];
  }

  put(record: ApprovalRecord): void {
    const { id, seq, origin, digest, status, effect, changedAtMs } = record;
    this.#file.run(
      `INSERT INTO approvals (id, seq, agent, session, digest, status, effect, changed_at, due_at, unused_grant, record)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, status = excluded.status, effect = excluded.effect,
         changed_at = excluded.changed_at, due_at = excluded.due_at, unused_grant = excluded.unused_grant,
         record = excluded.record`,
      ...[toKey(id), seq, toKey(origin.agent), toKey(origin.session), digest, status, effect, changedAtMs],
      ...[dueAtMs(record) ?? null, unusedGrantOf(record), new JsonWriter().text(record, "the record")],
    );
  }

  identical({ agent, session, digest }: IdenticalKey, limit: number): ApprovalRecord[] {
    const where = "agent = ? AND session = ? AND digest = ? ORDER BY seq DESC LIMIT ?";
    return this.#records(where, toKey(agent), toKey(session), digest, limit);
  }

  page(filter: ApprovalFilter, afterSeq: number, limit: number): ApprovalRecord[] {
    const conditions = conditionsOf(filter);
    const where = ["seq > ?", ...conditions.map(([condition]) => condition)].join(" AND ");
    const values = conditions.map(([, value]) => value);
    return this.#records(`${where} ORDER BY seq LIMIT ?`, afterSeq, ...values, limit);
  }

  due(nowMs = 0): ApprovalRecord[] {
    return this.#records("due_at <= ? ORDER BY due_at, seq", nowMs);
  }

  countOpen(of: Partial<Pick<IdenticalKey, "agent" | "session">> = {}): number {
    const conditions = conditionsOf(of);
    const where = ["due_at IS NOT NULL", ...conditions.map(([condition]) => condition)].join(" AND ");
    const values = conditions.map(([, value]) => value);
    return numberIn(this.#file.get(`SELECT count(*) FROM approvals WHERE ${where}`, ...values)?.[0]);
  }

  dropEnded(beforeMs: number, keep: number): void {
    this.#file.run("DELETE FROM approvals WHERE due_at IS NULL AND changed_at < ?", beforeMs);
    const surplus = numberIn(this.#file.get("SELECT count(*) FROM approvals")?.[0]) - keep;
    if (surplus <= 0) return;
    const oldest = "SELECT seq FROM approvals WHERE due_at IS NULL ORDER BY seq LIMIT ?";
    this.#file.run(`DELETE FROM approvals WHERE seq IN (${oldest})`, surplus);
  }

  unusedOfGrant(grantId: string): ApprovalRecord[] {
    return this.#records("unused_grant = ? ORDER BY seq", toKey(grantId));
  }

  grants(): Grant[] {
    const rows = this.#file.all("SELECT value FROM grants ORDER BY seq");
    return rows.map(([value]) => readJson(value) as unknown as Grant);
  }

  putGrant(grant: Grant): void {
    this.#file.run(
      `INSERT INTO grants (id, seq, value) VALUES (?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, value = excluded.value`,
      ...[toKey(grant.id), grant.seq, new JsonWriter().text(grant, "the grant")],
    );
  }

  removeGrant(id: string): void {
    this.#file.run("DELETE FROM grants WHERE id = ?", toKey(id));
  }
}
