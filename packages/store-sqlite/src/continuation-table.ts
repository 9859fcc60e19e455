import type { JsonValue } from "@harnesskit/protocol/envelope";
import { BufferFullError } from "@harnesskit/wire";
import { JsonWriter, readJson } from "./json-text.ts";
import { createNumbers, numberIn, textIn } from "./numbers.ts";
import { corrupt } from "./sqlite-store-error.ts";
import type { Statement } from "./statement.ts";
import type { StoreFile } from "./store-file.ts";
import { toKey } from "./text-key.ts";

/** What came of an attempt to use a continuation. */
export type ContinuationClaim =
  | { readonly status: "claimed"; readonly data?: JsonValue | undefined }
  | { readonly status: "used" };

export interface ContinuationTableOptions {
  readonly maxKept: number;
  readonly maxUsed: number;
}

const keyName = "continuations";
const keyBytes = 32;

/** The continuations of a file. Its methods belong into a transaction. Times are milliseconds since the epoch. */
export class ContinuationTable {
  readonly #options: ContinuationTableOptions;
  readonly #nextNumber: () => number;
  readonly #forget: Statement;
  readonly #put: Statement;
  readonly #trim: Statement;
  readonly #find: Statement;
  readonly #countUsed: Statement;
  readonly #use: Statement;
  readonly #release: Statement;
  readonly #findKey: Statement;
  readonly #putKey: Statement;

  constructor(file: StoreFile, options: ContinuationTableOptions) {
    this.#options = options;
    this.#nextNumber = createNumbers(file);
    this.#forget = file.prepare("DELETE FROM continuations WHERE expires_at <= ?");
    this.#put = file.prepare(
      `INSERT INTO continuations (id, number, expires_at, is_used, data) VALUES (?, ?, ?, 0, ?)
       ON CONFLICT DO UPDATE SET data = excluded.data, expires_at = excluded.expires_at`,
    );
    this.#trim = file.prepare(
      `DELETE FROM continuations WHERE is_used = 0 AND number <=
         (SELECT number FROM continuations WHERE is_used = 0 ORDER BY number DESC LIMIT 1 OFFSET ?)`,
    );
    this.#find = file.prepare("SELECT is_used, data FROM continuations WHERE id = ?");
    this.#countUsed = file.prepare("SELECT count(*) FROM continuations WHERE is_used = 1");
    this.#use = file.prepare(
      `INSERT INTO continuations (id, number, expires_at, is_used, data) VALUES (?, ?, ?, 1, NULL)
       ON CONFLICT DO UPDATE SET is_used = 1, expires_at = excluded.expires_at`,
    );
    this.#release = file.prepare("UPDATE continuations SET is_used = 0 WHERE id = ? AND is_used = 1");
    this.#findKey = file.prepare("SELECT value FROM keys WHERE name = ?");
    this.#putKey = file.prepare("INSERT INTO keys (name, value) VALUES (?, ?)");
  }

  /** The key of this file, made where there is none. Throws `corrupt`. */
  key(): Uint8Array {
    const row = this.#findKey.get(keyName);
    if (row !== undefined) {
      const key = Buffer.from(textIn(row[0]), "base64");
      if (key.length !== keyBytes) throw corrupt("the key of its continuations is none");
      return Uint8Array.from(key);
    }
    const made = crypto.getRandomValues(new Uint8Array(keyBytes));
    this.#putKey.run(keyName, Buffer.from(made).toString("base64"));
    return made;
  }

  /** Keeps what a run left. Beyond `maxKept` the oldest go that were not used. Throws `invalid_argument` for what is no JSON. */
  keep(id: string, data: JsonValue, expiresAt: number, now: number): void {
    const text = new JsonWriter().text(data, "what a run left");
    this.#forget.run(now);
    this.#put.run(toKey(id), this.#nextNumber(), expiresAt, text);
    this.#trim.run(this.#options.maxKept);
  }

  /** Uses one, once. Throws `buffer_full` where to know one more would mean to forget one that could then be used again. */
  claim(id: string, expiresAt: number, now: number): ContinuationClaim {
    const row = this.#find.get(toKey(id));
    if (row !== undefined && row[0] === 1) return { status: "used" };
    const { maxUsed } = this.#options;
    if (this.#used() >= maxUsed) {
      this.#forget.run(now);
      if (this.#used() >= maxUsed) throw new BufferFullError("maxUsed", maxUsed);
    }
    this.#use.run(toKey(id), this.#nextNumber(), expiresAt);
    const text = row?.[1] ?? null;
    return text === null ? { status: "claimed" } : { status: "claimed", data: readJson(text) };
  }

  /** Takes a claim back. */
  release(id: string): void {
    this.#release.run(toKey(id));
  }

  #used(): number {
    return numberIn(this.#countUsed.get()?.[0]);
  }
}
