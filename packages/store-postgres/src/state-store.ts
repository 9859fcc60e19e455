import { randomUUID } from "node:crypto";
import { parseStateRecord, type StateRecord, type StateStore, StateStoreError } from "@harnesskit/ahp-server";
import { createDeferred, type Deferred, HarnessError, InvalidArgumentError } from "@harnesskit/wire";
import { toTextKey } from "@harnesskit/wire/json";
import type { Database, Transaction } from "./database.ts";
import { corrupt } from "./failures.ts";
import { readJson, safeNumber, textIn } from "./rows.ts";

type Query = Transaction["query"];

/** What is to be written: records behind the others, or in place of them. */
interface Step {
  readonly isReplacement: boolean;
  readonly texts: readonly string[];
}

/** What the row of a state was when its records were loaded. */
interface Found {
  /** 0 where there was no row. */
  readonly epoch: number;
  readonly last: number;
  readonly writer: string | null;
}

/** Steps of one transaction. */
const maxBatch = 500;
/** How long to wait before a write that failed is tried again. */
const pauseMs = 1000;

const writeFailure = (why: string, cause?: unknown): StateStoreError =>
  new StateStoreError("state_not_kept", `the state cannot be written: ${why}`, {
    cause,
  });

const recordIn = (text: string): StateRecord => {
  const record = parseStateRecord(readJson(text));
  if (record === undefined) throw corrupt("a record of a run is not valid");
  return record;
};

/**
 * The state of the runs of one AHP server. Its texts are in memory, as the runs are; what is appended is written in order, in one
 * transaction after the other. The first write takes the name. Each is refused if another server has written since this one was opened.
 */
class PostgresStateStore implements StateStore {
  readonly #database: Database;
  readonly #name: string;
  readonly #found: Found;
  readonly #writer = randomUUID();
  #texts: string[];
  #size = 0;
  #steps: Step[] = [];
  /** Characters that wait to be written. */
  #waiting = 0;
  #taken = 0;
  #written = 0;
  readonly #waiters = new Set<{ readonly upTo: number; readonly done: Deferred<void> }>();
  #writing: Promise<void> | undefined;
  #cancelPause = () => {};
  #lost: StateStoreError | undefined;
  #closed: Promise<void> | undefined;

  constructor(database: Database, name: string, texts: string[], found: Found) {
    this.#database = database;
    this.#name = name;
    this.#found = found;
    this.#texts = texts;
    this.#size = texts.reduce((sum, text) => sum + text.length, 0);
  }

  get size(): number {
    return this.#size;
  }

  *load(): Generator<StateRecord> {
    for (const text of [...this.#texts]) yield recordIn(text);
  }

  append(record: StateRecord): void {
    const text = JSON.stringify(record);
    this.#take({ isReplacement: false, texts: [text] }, text.length);
    this.#texts.push(text);
    this.#size += text.length;
  }

  replace(records: Iterable<StateRecord>): void {
    const texts = Array.from(records, (record) => JSON.stringify(record));
    const size = texts.reduce((sum, text) => sum + text.length, 0);
    this.#take({ isReplacement: true, texts }, size);
    this.#texts = texts;
    this.#size = size;
  }

  kept(): Promise<void> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    if (this.#written === this.#taken) return Promise.resolve();
    const done = createDeferred<void>();
    this.#waiters.add({ upTo: this.#taken, done });
    return done.promise;
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      this.#cancelPause();
      await this.#writing;
      if (this.#steps.length > 0 && this.#lost === undefined) await this.#run(true);
    })();
    return this.#closed;
  }

  #take(step: Step, length: number): void {
    const { maxUnwrittenLength } = this.#database.options.limits;
    if (this.#closed !== undefined) throw writeFailure("the store is closed");
    if (this.#lost !== undefined) throw this.#lost;
    if (this.#steps.length > 0 && this.#waiting + length > maxUnwrittenLength) {
      throw writeFailure(`the database has not taken ${this.#waiting} characters yet (maxUnwrittenLength)`);
    }
    this.#steps.push(step);
    this.#waiting += length;
    this.#taken++;
    this.#start();
  }

  #start(): void {
    // What else arrives in this turn goes with it.
    this.#writing ??= Promise.resolve().then(() => this.#run(false));
  }

  /** Writes until nothing waits, or a write has failed. Never rejects. */
  async #run(isLast: boolean): Promise<void> {
    let isFailed = false;
    while (this.#steps.length > 0 && !isFailed) {
      let count: number;
      try {
        count = await this.#database.write(({ query }) => this.#write(query));
      } catch (error) {
        isFailed = true;
        this.#failed(error, isLast);
        continue;
      }
      this.#waiting -= this.#steps
        .splice(0, count)
        .flatMap(({ texts }) => texts)
        .reduce((sum, text) => sum + text.length, 0);
      this.#written += count;
      this.#settle((upTo) => upTo <= this.#written);
    }
    // In the same turn as the last look: who was waited for may append at once.
    this.#writing = undefined;
  }

  #failed(error: unknown, isLast: boolean): void {
    const { clock, onError } = this.#database.options;
    const code = HarnessError.isInstance(error) ? error.code : "failed";
    const isLost = StateStoreError.isInstance(error);
    const failure = isLost ? error : writeFailure(`the database failed (${code})`, error);
    if (isLost) this.#lost = failure;
    this.#settle(() => true, failure);
    onError(failure);
    if (isLost || isLast || this.#closed !== undefined) return;
    this.#cancelPause = clock.after(pauseMs, () => this.#start());
  }

  #settle(isDue: (upTo: number) => boolean, failure?: StateStoreError): void {
    for (const waiter of this.#waiters) {
      if (!isDue(waiter.upTo)) continue;
      this.#waiters.delete(waiter);
      if (failure === undefined) waiter.done.resolve();
      else waiter.done.reject(failure);
    }
  }

  /** Gives how many steps it has written. */
  async #write(query: Query): Promise<number> {
    const { isNew, last } = await this.#lock(query);
    const { isReplacement, texts, count } = isNew ? this.#whole() : this.#next();
    if (isReplacement) await query("DELETE FROM store.run_state_records WHERE name = $1", this.#name);
    await query(
      `INSERT INTO store.run_state_records (name, number, body)
       SELECT $1, $2 + place, body FROM unnest($3::text[]) WITH ORDINALITY AS given(body, place)`,
      ...[this.#name, last],
      texts,
    );
    await query(
      "UPDATE store.run_states SET last = $2, updated_at = clock_timestamp() WHERE name = $1",
      ...[this.#name, last + texts.length],
    );
    return count;
  }

  /** The first steps that wait. What a later replacement drops is not written. */
  #next(): Step & { readonly count: number } {
    const steps = this.#steps.slice(0, maxBatch);
    const from = Math.max(
      0,
      steps.findLastIndex(({ isReplacement }) => isReplacement),
    );
    const texts = steps.slice(from).flatMap((step) => step.texts);
    return { isReplacement: steps[from]?.isReplacement === true, texts, count: steps.length };
  }

  /** All that was taken: of a state that was removed as old, nothing is in the database. */
  #whole(): Step & { readonly count: number } {
    return { isReplacement: true, texts: [...this.#texts], count: this.#steps.length };
  }

  /** Takes the name, unless another server has written since this one was opened. */
  async #lock(query: Query): Promise<{ readonly isNew: boolean; readonly last: number }> {
    const { epoch, last, writer } = this.#found;
    const [row] = await query(
      `INSERT INTO store.run_states AS s (name, epoch, last, writer) VALUES ($1, $2::bigint + 1, 0, $5)
       ON CONFLICT (name) DO UPDATE SET epoch = $2::bigint + 1, writer = $5
       WHERE (s.epoch = $2 AND s.last = $3 AND s.writer IS NOT DISTINCT FROM $4)
         OR (s.epoch = $2::bigint + 1 AND s.writer = $5)
       RETURNING last, xmax = 0 AS is_new`,
      ...[this.#name, epoch, last, writer, this.#writer],
    );
    if (row === undefined)
      throw writeFailure("another server has written since this was opened: start this one again");
    return { isNew: row.is_new === true, last: safeNumber(row.last) };
  }
}

/**
 * Opens the state of an AHP server's runs, and changes nothing before its first write. Servers at the same time have names of their own. Rejects with `invalid_argument` for a name that is not
 * 1 to 200 characters, and with a `StoreError`.
 */
export const openStateStore = async (database: Database, name: string): Promise<StateStore> => {
  if (typeof name !== "string" || name === "" || name.length > 200) {
    throw new InvalidArgumentError(`the name of a state must have 1 to 200 characters, got ${name?.length}`);
  }
  const key = toTextKey(name);
  const [found, rows] = await database.read(async ({ query }) => {
    const [row] = await query("SELECT epoch, last, writer FROM store.run_states WHERE name = $1", key);
    const select = "SELECT body FROM store.run_state_records WHERE name = $1 ORDER BY number";
    return [row, await query(select, key)];
  });
  const texts = rows.map(({ body }) => textIn(body));
  for (const text of texts) recordIn(text);
  return new PostgresStateStore(database, key, texts, {
    epoch: safeNumber(found?.epoch ?? 0),
    last: safeNumber(found?.last ?? 0),
    writer: found?.writer == null ? null : textIn(found.writer),
  });
};
