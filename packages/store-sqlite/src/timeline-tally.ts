import type { TimelineRow } from "@harnesskit/protocol/hub";
import type { RuleTally, SessionTally, StoredContent } from "@harnesskit/timeline";
import { RowTally, titleOf } from "@harnesskit/timeline";
import { joinKey } from "@harnesskit/wire";
import { keyOrNull, numberIn, type SqlValue, toKey } from "./sql-values.ts";
import type { StoreFile } from "./store-file.ts";

/** The columns of a session that are counted. */
export const sessionCounts = [
  "actions",
  "failed",
  "refused",
  "unknown",
  "running",
  "unjudged",
  "waiting",
] as const;

/** A row that was added or changed. */
export interface CountedChange {
  readonly before: TimelineRow | undefined;
  readonly after: TimelineRow;
  /** Of a row that was added. */
  readonly content: StoredContent | undefined;
  readonly bytes: number;
}

/**
 * Counts the rows of a timeline. Counts are written together, at most each second: else each row would change five more pages. What a
 * killed process has not written is counted again from the rows.
 */
export class TimelineTally {
  readonly #file: StoreFile;
  readonly #tally = new RowTally();
  #rows = 0;
  #bytes = 0;
  #lastSeq = 0;
  #writtenAtMs = 0;

  constructor(file: StoreFile) {
    this.#file = file;
  }

  /** The greatest number of a counted row. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  isDue(nowMs: number): boolean {
    return this.isOpen && nowMs - this.#writtenAtMs >= 1000;
  }

  /** Whether there are counts that are not written. */
  get isOpen(): boolean {
    return !this.#tally.isEmpty || this.#rows !== 0 || this.#bytes !== 0;
  }

  /** After the commit of these changes. */
  add(changes: readonly CountedChange[]): void {
    for (const { before, after, content, bytes } of changes) {
      this.#lastSeq = Math.max(this.#lastSeq, after.seq);
      this.#rows += before === undefined ? 1 : 0;
      this.#bytes += bytes;
      this.#tally.add(before, after, content);
    }
  }

  /** After the commit of a removal. */
  removed(rows: number, bytes: number): void {
    this.#rows -= rows;
    this.#bytes -= bytes;
  }

  /** Within a transaction; `written` after its commit. */
  write(): void {
    for (const tally of this.#tally.sessions) this.#writeSession(tally);
    for (const tally of this.#tally.rules) this.#writeRule(tally);
    this.#file.run(
      "UPDATE timeline_totals SET counted = max(counted, ?), rows = rows + ?, bytes = bytes + ?",
      ...[this.#lastSeq, this.#rows, this.#bytes],
    );
  }

  written(nowMs: number): void {
    this.#writtenAtMs = nowMs;
    this.#tally.clear();
    this.#rows = 0;
    this.#bytes = 0;
  }

  #writeSession(tally: SessionTally): void {
    const { agent, session, workspace, title, firstSeenMs, lastSeenMs } = tally;
    const { actions, failed, refused, unknown, running, unjudged, waiting } = tally;
    this.#file.run(
      `INSERT INTO timeline_sessions (agent, session, workspace, title, first_seen, last_seen, ${sessionCounts.join(", ")})
       VALUES (?, ?, ?, ?, ?, ?${", ?".repeat(sessionCounts.length)})
       ON CONFLICT (agent, session) DO UPDATE SET workspace = coalesce(workspace, excluded.workspace),
         title = coalesce(title, excluded.title), last_seen = max(last_seen, excluded.last_seen),
         ${sessionCounts.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`,
      ...[toKey(agent), toKey(session), keyOrNull(workspace), keyOrNull(title), firstSeenMs, lastSeenMs],
      ...[actions, failed, refused, unknown, running, unjudged, waiting],
    );
  }

  #writeRule({ kind, name, decision, hits, lastHitAtMs }: RuleTally): void {
    this.#file.run(
      `INSERT INTO timeline_rules (kind, name, decision, hits, last_hit) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (kind, name, decision) DO UPDATE SET hits = hits + excluded.hits, last_hit = max(last_hit, excluded.last_hit)`,
      ...[toKey(kind), toKey(name), toKey(decision), hits, lastHitAtMs],
    );
  }

  /** Counts what a killed process has written and not counted. Within a transaction, before anything else. */
  recover(rowIn: (text: SqlValue | undefined) => TimelineRow): void {
    const counted = numberIn(this.#file.get("SELECT counted FROM timeline_totals")?.[0]);
    const newest = numberIn(this.#file.get("SELECT coalesce(max(seq), 0) FROM timeline")?.[0]);
    this.#lastSeq = Math.max(counted, newest);
    if (this.#lastSeq === counted) return;
    const rows = this.#file
      .all("SELECT row FROM timeline WHERE seq > ?", counted)
      .map(([text]) => rowIn(text));
    for (const row of rows) if (row.id > counted) this.#tally.addRule(undefined, row);
    for (const tally of this.#tally.rules) this.#writeRule(tally);
    this.#tally.clear();
    const sessions = new Map(rows.map((row) => [joinKey(row.agent, row.session), row]));
    for (const { agent, session } of sessions.values()) {
      const asked = rows.find((row) => row.agent === agent && row.session === session && titleOf(row));
      this.#recount(agent, session, asked && titleOf(asked));
    }
    this.#file.run(
      `UPDATE timeline_totals SET counted = ?, rows = (SELECT count(*) FROM timeline),
         bytes = bytes + (SELECT coalesce(sum(bytes), 0) FROM timeline WHERE id > ?)`,
      ...[this.#lastSeq, counted],
    );
  }

  #recount(agent: string, session: string, title: string | undefined): void {
    const states = sessionCounts.filter((name) => name !== "actions" && name !== "unjudged");
    const counts = ["actions", "unjudged", ...states];
    this.#file.run(
      `INSERT INTO timeline_sessions (agent, session, title, first_seen, last_seen, ${counts.join(", ")})
       SELECT agent, session, ?, min(at), max(changed_at), sum(state <> 'noted'), sum(coalesce(decision, '') = 'unjudged'),
         ${states.map((state) => `sum(state = '${state}')`).join(", ")} FROM timeline WHERE agent = ? AND session = ? GROUP BY agent, session
       ON CONFLICT (agent, session) DO UPDATE SET title = coalesce(title, excluded.title), last_seen = excluded.last_seen,
         actions = max(actions, excluded.actions), unjudged = excluded.unjudged,
         ${states.map((state) => `${state} = excluded.${state}`).join(", ")}`,
      ...[keyOrNull(title), toKey(agent), toKey(session)],
    );
  }
}
