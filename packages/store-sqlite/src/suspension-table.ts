import {
  type StoredSuspension,
  StoreError,
  type SuspensionFilter,
  type SuspensionPatch,
  type SuspensionPut,
  type SuspensionReceipt,
  type SuspensionWrite,
} from "@harnesskit/graph";
import type { SuspensionSummary } from "@harnesskit/protocol/chat";
import { JsonWriter } from "./json-text.ts";
import { numberIn, textIn } from "./numbers.ts";
import type { Statement } from "./statement.ts";
import type { StoreFile } from "./store-file.ts";
import { toQuery } from "./suspension-query.ts";
import { columnNames, recordOf, type Stamp, summaryOf, toValues } from "./suspension-row.ts";
import { fromKey, toKey } from "./text-key.ts";

export interface SuspensionTableOptions {
  /** How many records that have ended and are delivered stay. */
  readonly maxEnded: number;
  /** The file's next number. */
  readonly nextNumber: () => number;
  /** The time, in RFC 3339. */
  readonly now: () => string;
}

/** What decides whether a record may be written. */
interface Stored {
  readonly number: number;
  readonly status: string;
  readonly isDelivered: boolean;
  readonly revision: number;
  readonly ended: number | null;
}

const columns = columnNames.join(", ");
const conflict = (message: string) => new StoreError("suspension_conflict", message);

/** The suspensions of a file. Its methods belong into a transaction. */
export class SuspensionTable {
  readonly #file: StoreFile;
  readonly #options: SuspensionTableOptions;
  readonly #lists = new Map<string, Statement>();
  readonly #find: Statement;
  readonly #record: Statement;
  readonly #state: Statement;
  readonly #waiting: Statement;
  readonly #put: Statement;
  readonly #putState: Statement;
  readonly #patch: Statement;
  readonly #delete: Statement;
  readonly #deleteState: Statement;
  readonly #oldestEnded: Statement;
  /** Records that this store ended since it looked for those that are too many. */
  #endings = 0;

  constructor(file: StoreFile, options: SuspensionTableOptions) {
    this.#file = file;
    this.#options = options;
    this.#find = file.prepare(
      "SELECT number, status, is_delivered, revision, ended FROM suspensions WHERE invocation_id = ?",
    );
    this.#record = file.prepare(`SELECT ${columns}, number FROM suspensions WHERE invocation_id = ?`);
    this.#state = file.prepare(
      "SELECT frames, completed_positions FROM suspension_states WHERE suspension = ?",
    );
    this.#waiting = file.prepare(
      "SELECT 1 FROM suspensions WHERE signal_id = ? AND status = 'suspended' AND invocation_id <> ? LIMIT 1",
    );
    const changed = columnNames.slice(1).map((name) => `${name} = excluded.${name}`);
    this.#put = file.prepare(
      `INSERT INTO suspensions (${columns}, ended) VALUES (${columnNames.map(() => "?").join(", ")}, ?)
       ON CONFLICT (invocation_id) DO UPDATE SET ${changed.join(", ")}, ended = excluded.ended RETURNING number`,
    );
    this.#putState = file.prepare(
      `INSERT INTO suspension_states (suspension, frames, completed_positions) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET frames = excluded.frames, completed_positions = excluded.completed_positions`,
    );
    this.#patch = file.prepare(
      `UPDATE suspensions SET status = ?, is_delivered = ?, signal = coalesce(?, signal),
       result = coalesce(?, result), ended = ?, revision = ?, updated_at = ? WHERE number = ?`,
    );
    this.#delete = file.prepare("DELETE FROM suspensions WHERE number = ?");
    this.#deleteState = file.prepare("DELETE FROM suspension_states WHERE suspension = ?");
    this.#oldestEnded = file.prepare(
      "SELECT number FROM suspensions WHERE ended IS NOT NULL ORDER BY ended DESC LIMIT -1 OFFSET ?",
    );
  }

  #stored(invocationId: string): Stored | undefined {
    const row = this.#find.get(toKey(invocationId));
    if (row === undefined) return undefined;
    const [number, status, isDelivered, revision, ended] = row;
    return {
      number: numberIn(number),
      status: fromKey(textIn(status)),
      isDelivered: numberIn(isDelivered) === 1,
      revision: numberIn(revision),
      ended: typeof ended === "number" ? ended : null,
    };
  }

  read(invocationId: string): StoredSuspension | null {
    const row = this.#record.get(toKey(invocationId));
    if (row === undefined) return null;
    return recordOf(row, this.#state.get(numberIn(row[columnNames.length])));
  }

  /** Summaries, the one suspended first at the head. */
  list(filter: SuspensionFilter): SuspensionSummary[] {
    const { sql, values } = toQuery(filter);
    const statement = this.#lists.get(sql) ?? this.#file.prepare(sql);
    this.#lists.set(sql, statement);
    return statement.all(...values).map(summaryOf);
  }

  delete(invocationId: string): void {
    const stored = this.#stored(invocationId);
    if (stored !== undefined) this.#remove(stored.number);
  }

  #remove(number: number): void {
    this.#deleteState.run(number);
    this.#delete.run(number);
  }

  /** Throws `suspension_conflict`, `signal_taken`, and `invalid_argument` for what cannot be stored. */
  write(write: SuspensionWrite): SuspensionReceipt {
    return write.kind === "put" ? this.#writePut(write) : this.#writePatch(write);
  }

  #stamp(): Stamp {
    return { revision: this.#options.nextNumber(), updatedAt: this.#options.now() };
  }

  #writePut(put: SuspensionPut): SuspensionReceipt {
    const { record, expectedRevision, isSignalUnique = false } = put;
    const stored = this.#stored(record.invocation_id);
    const revision = stored?.revision ?? null;
    if (expectedRevision !== undefined && expectedRevision !== revision) {
      throw conflict(`the suspension is at revision ${revision}, not ${expectedRevision}`);
    }
    if (stored !== undefined && stored.status !== "suspended") throw conflict("the invocation has ended");
    if (isSignalUnique) this.#demandUnique(record.descriptor.signal_id, record.invocation_id);
    const stamp = this.#stamp();
    const { values, frames, positions } = toValues(put, stamp, new JsonWriter());
    const ended = this.#endedAt(record.status, record.is_delivered, undefined, stamp.revision);
    const number = numberIn(this.#put.get(...values, ended)?.[0]);
    this.#putState.run(number, frames, positions);
    if (ended !== null) this.#forgetOldest();
    return { revision: stamp.revision };
  }

  #demandUnique(signalId: string, invocationId: string): void {
    if (this.#waiting.get(toKey(signalId), toKey(invocationId)) === undefined) return;
    throw new StoreError("signal_taken", `another invocation waits for ${signalId}`);
  }

  #writePatch(patch: SuspensionPatch): SuspensionReceipt {
    const stored = this.#stored(patch.invocationId);
    if (stored === undefined) throw conflict("no suspension has this id");
    if (patch.expectedRevision !== undefined && patch.expectedRevision !== stored.revision) {
      throw conflict(`the suspension is at revision ${stored.revision}, not ${patch.expectedRevision}`);
    }
    if (patch.status !== undefined && stored.status !== "suspended")
      throw conflict("the invocation has ended");
    const { revision, updatedAt } = this.#stamp();
    const { status = stored.status, isDelivered = stored.isDelivered, signal, result } = patch;
    const json = new JsonWriter();
    const ended = this.#endedAt(status, isDelivered, stored, revision);
    this.#patch.run(
      toKey(status),
      isDelivered ? 1 : 0,
      signal === undefined ? null : json.text(signal, "signal"),
      result === undefined ? null : json.text(result, "result"),
      ended,
      revision,
      updatedAt,
      stored.number,
    );
    if (patch.status !== undefined) this.#deleteState.run(stored.number);
    if (ended !== null && stored.ended === null) this.#forgetOldest();
    return { revision };
  }

  #endedAt(
    status: string,
    isDelivered: boolean,
    stored: Stored | undefined,
    revision: number,
  ): number | null {
    return status === "suspended" || !isDelivered ? null : (stored?.ended ?? revision);
  }

  /** Drops the oldest that have ended; once in a while, because it counts them all. */
  #forgetOldest(): void {
    const { maxEnded } = this.#options;
    if (++this.#endings <= maxEnded / 100) return;
    this.#endings = 0;
    for (const [number] of this.#oldestEnded.all(maxEnded)) this.#remove(numberIn(number));
  }
}
