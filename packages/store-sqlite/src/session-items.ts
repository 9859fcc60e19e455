import { SharedList, type StoredList } from "@harnesskit/graph";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { type JsonWriter, readJson } from "./json-text.ts";
import { numberIn } from "./numbers.ts";
import { corrupt } from "./sqlite-store-error.ts";
import type { Statement } from "./statement.ts";
import type { StoreFile } from "./store-file.ts";

/** Lists up to this many bytes are read as one text; larger ones row by row. */
const maxTextBytes = 64 * 1_048_576;

/** The lists of sessions, an item a row. Its methods belong into a transaction; names are keys. */
export class SessionItems {
  readonly #length: Statement;
  readonly #insert: Statement;
  readonly #cut: Statement;
  readonly #size: Statement;
  readonly #text: Statement;
  readonly #rows: Statement;

  constructor(file: StoreFile) {
    const these = "session = ? AND name = ?";
    this.#length = file.prepare(
      `SELECT position + 1 FROM session_items WHERE ${these} ORDER BY position DESC LIMIT 1`,
    );
    this.#insert = file.prepare(
      "INSERT INTO session_items (session, name, position, value) VALUES (?, ?, ?, ?)",
    );
    this.#cut = file.prepare(`DELETE FROM session_items WHERE ${these} AND position >= ?`);
    this.#size = file.prepare(
      `SELECT count(*), coalesce(max(position), -1), total(octet_length(value)) FROM session_items WHERE ${these}`,
    );
    // In the order of the key, as the inner query says; ordering inside of the function would sort them once more.
    this.#text = file.prepare(
      `SELECT group_concat(value, ',') FROM (SELECT value FROM session_items WHERE ${these} ORDER BY position)`,
    );
    this.#rows = file.prepare(`SELECT value FROM session_items WHERE ${these} ORDER BY position`);
  }

  /** How many items a list has. */
  length(session: number, name: string): number {
    return numberIn(this.#length.get(session, name)?.[0] ?? 0);
  }

  /**
   * Replaces what is behind the first `keep` items; gives the length of the text that was added, and whether items went. Throws
   * `invalid_argument` where there are fewer items, or an item is no JSON.
   */
  replaceTail(
    session: number,
    name: string,
    change: { readonly keep: number; readonly items: Iterable<JsonValue> },
    json: JsonWriter,
  ): { readonly added: number; readonly isCut: boolean } {
    const length = this.length(session, name);
    let position = change.keep;
    if (!Number.isInteger(position) || position < 0 || position > length) {
      throw new InvalidArgumentError(`${name} has ${length} items, of which ${position} cannot stay`);
    }
    const isCut = position < length;
    if (isCut) this.#cut.run(session, name, position);
    let added = 0;
    for (const item of change.items) {
      const text = json.text(item, name);
      added += text.length;
      this.#insert.run(session, name, position++, text);
    }
    return { added, isCut };
  }

  /** A list and the length of its text. Throws `corrupt` where items are missing. */
  read(session: number, name: string): { readonly list: StoredList; readonly length: number } {
    const [count, last, bytes] = (this.#size.get(session, name) ?? []).map(numberIn);
    if (count === undefined || last !== count - 1 || bytes === undefined) {
      throw corrupt("items of a list are missing");
    }
    const items = this.#items(session, name, bytes);
    if (items.length !== count) throw corrupt("items of a list cannot be told apart");
    return { list: SharedList.of(items), length: bytes };
  }

  #items(session: number, name: string, bytes: number): readonly JsonValue[] {
    if (bytes > maxTextBytes) return this.#rows.all(session, name).map(([value]) => readJson(value));
    const [text] = this.#text.get(session, name) ?? [];
    return readJson(`[${text ?? ""}]`) as readonly JsonValue[];
  }
}
