import { type BigIntStats, lstatSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  acquireFileLock,
  type FileLock,
  FileLockError,
  makeDirectory,
  privatePathProblem,
  readOwnFile,
  removeTemporaries,
  systemErrorCode,
  UnsafeFileError,
  writeFileAtomic,
} from "@harnesskit/node-kit";
import { displayText, HarnessError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import {
  keptRecords,
  type RecordEdit,
  type RecordLimits,
  type RecordStore,
  recordLimits,
} from "./record-store.ts";

export type RecordFileErrorCode =
  /** It is not what such a file holds. `place` says where. */
  | "record_file_invalid"
  /** It, or its directory, is a link, of another kind, another user's, or can be written by others. */
  | "record_file_unsafe"
  /** It has more bytes or records than allowed. */
  | "record_file_too_large"
  /** Another process holds its lock for too long. */
  | "record_file_locked"
  /** The system refuses to read or write it. */
  | "record_file_unavailable";

/** A file of grants or directives that cannot be used. Nothing is granted by it. */
export class RecordFileError extends HarnessError<RecordFileErrorCode> {
  static override readonly brand = "RecordFileError";
  constructor(
    code: RecordFileErrorCode,
    readonly path: string,
    problem: string,
    /** The field that is wrong, such as `grants.3.until`; empty where it is the file. */
    readonly place = "",
    options?: { readonly cause?: unknown },
  ) {
    super(code, `${displayText(path, { maxLength: 300 })} ${problem}`, options);
  }
}

/** The code of what a store rejected and the place in its file, for callers: without the path. */
export const recordFault = (error: unknown): string => {
  const code = HarnessError.isInstance(error) ? error.code : "unknown";
  return RecordFileError.isInstance(error) && error.place !== "" ? `${code} at ${error.place}` : code;
};

/** What reading, locking or writing the file threw, as a {@link RecordFileError}. */
const toRecordFileError = (path: string, cause: unknown): HarnessError => {
  if (UnsafeFileError.isInstance(cause)) {
    const code = cause.reason === "too_large" ? "record_file_too_large" : "record_file_unsafe";
    return new RecordFileError(code, path, cause.problem, "", { cause });
  }
  if (FileLockError.isInstance(cause)) {
    return new RecordFileError("record_file_locked", path, `cannot be changed: ${cause.message}`, "", {
      cause,
    });
  }
  // Also what an edit threw.
  if (HarnessError.isInstance(cause)) return cause;
  const problem = `cannot be read or written (${systemErrorCode(cause) ?? "unknown"})`;
  return new RecordFileError("record_file_unavailable", path, problem, "", { cause });
};

/** The kind of schema that the records have: those of `@harnesskit/protocol`. */
interface RecordSchema<Item> {
  safeParse(value: unknown):
    | { readonly success: true; readonly data: Item }
    | {
        readonly success: false;
        readonly error: { readonly issues: readonly { path: readonly PropertyKey[]; message: string }[] };
      };
}

/** How records are written: `{ "version": 1, "<name>": [ … ] }`, sorted, one field on a line. */
interface RecordFormat<Item> {
  /** The field of the file that holds them. */
  readonly name: string;
  readonly schema: RecordSchema<Item>;
  /** What they are sorted by. */
  readonly key: (item: Item) => string;
}

const version = 1;

/** Texts in the order of their UTF-16 units, the same everywhere. */
const compareStrings = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const recordsToText = <Item>({ name, key }: RecordFormat<Item>, items: readonly Item[]): string => {
  const sorted = [...items].sort((a, b) => compareStrings(key(a), key(b)));
  return `${JSON.stringify({ version, [name]: sorted }, null, 2)}\n`;
};

/** Throws {@link RecordFileError} (`record_file_invalid`, `record_file_too_large`) that names the place. */
const recordsFromBytes = <Item>(
  path: string,
  { name, schema }: RecordFormat<Item>,
  bytes: Uint8Array,
  maxRecords: number,
): readonly Item[] => {
  const invalid = (problem: string, place = "") =>
    new RecordFileError("record_file_invalid", path, `is wrong${place && ` at ${place}`}: ${problem}`, place);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw invalid("it is not JSON in UTF-8");
  }
  if (!isObject(value)) throw invalid("it must be an object");
  const unknown = Object.keys(value).find((field) => field !== "version" && field !== name);
  if (unknown !== undefined) throw invalid("the field is unknown", shortText(unknown));
  if (value.version !== version) throw invalid(`it must be ${version}`, "version");
  const records = Object.hasOwn(value, name) ? value[name] : undefined;
  if (!Array.isArray(records)) throw invalid("it must be an array", name);
  if (records.length > maxRecords) {
    throw new RecordFileError("record_file_too_large", path, `has more than ${maxRecords} ${name}`, name);
  }
  return records.map((record, index) => {
    const parsed = schema.safeParse(record);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw invalid(
      shortText(issue?.message ?? ""),
      shortText([name, index, ...(issue?.path ?? [])].map(String).join(".")),
    );
  });
};

const shortText = (text: string): string => displayText(text, { maxLength: 200 });

/** Options of a store in a file. */
export interface FileStoreOptions {
  /** The path of the file; its directory is created with mode 0700. */
  readonly path: string;
  /** @default see each limit */
  readonly limits?: Partial<RecordLimits> | undefined;
}

interface Look<Item> {
  /** Identifies this state of the file. */
  readonly print: string;
  readonly items: readonly Item[];
}

const lockOf = (path: string): string => `${path}.lock`;

/** What tells one state of a file from others: each change puts another file in its place. */
const printOf = (found: BigIntStats | undefined): string =>
  found === undefined ? "absent" : [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(":");

/** Records in one private JSON file (0600), which is replaced as a whole under a lock beside it. */
export class RecordFile<Item> implements RecordStore<Item> {
  readonly #path: string;
  readonly #format: RecordFormat<Item>;
  readonly #limits: RecordLimits;
  #seen: Look<Item> | undefined;
  #changes: Promise<unknown> = Promise.resolve();

  constructor(path: string, format: RecordFormat<Item>, limits?: Partial<RecordLimits>) {
    this.#path = resolve(path);
    this.#format = format;
    this.#limits = recordLimits.resolve(limits);
  }

  list(): readonly Item[] | Promise<readonly Item[]> {
    return this.#seen?.print === printOf(this.#look()) ? this.#seen.items : this.#read();
  }

  change<Result>(edit: (items: readonly Item[]) => RecordEdit<Item, Result>): Promise<Result> {
    const done = this.#changes.then(() => this.#change(edit));
    this.#changes = done.catch(() => {});
    return done;
  }

  async #change<Result>(edit: (items: readonly Item[]) => RecordEdit<Item, Result>): Promise<Result> {
    const { maxRecords, maxFileBytes } = this.#limits;
    const lock = await this.#lock();
    try {
      const { items, result } = edit(await this.#read());
      if (!items) return result;
      const text = recordsToText(this.#format, keptRecords(items, maxRecords));
      if (Buffer.byteLength(text) > maxFileBytes) {
        throw new RecordFileError("record_file_too_large", this.#path, `would exceed ${maxFileBytes} bytes`);
      }
      await this.#guard(async () => {
        await removeTemporaries(this.#path);
        await writeFileAtomic(this.#path, text);
      });
      return result;
    } finally {
      await this.#guard(() => lock.release());
    }
  }

  async #lock(): Promise<FileLock> {
    return await this.#guard(async () => {
      await makeDirectory(dirname(this.#path));
      this.#look();
      return acquireFileLock(lockOf(this.#path), { waitMs: this.#limits.lockTimeoutMs });
    });
  }

  /** The file as it is now, its own and its directory's rights checked; undefined where it does not exist. */
  #look(): BigIntStats | undefined {
    try {
      const found = lstatSync(this.#path, { bigint: true, throwIfNoEntry: false });
      const directory = lstatSync(dirname(this.#path), { throwIfNoEntry: false });
      const problem =
        (found && privatePathProblem(found, { kind: "file" })) ??
        (directory && privatePathProblem(directory, { kind: "directory" }));
      if (problem !== undefined) throw new RecordFileError("record_file_unsafe", this.#path, problem);
      return found;
    } catch (error) {
      throw toRecordFileError(this.#path, error);
    }
  }

  async #read(): Promise<readonly Item[]> {
    // Of what is read while the file changes, the older print counts: it is read again.
    const found = this.#look();
    const items = found ? await this.#parse() : keptRecords<Item>([], 0);
    this.#seen = { print: printOf(found), items };
    return items;
  }

  async #parse(): Promise<readonly Item[]> {
    const { maxFileBytes, maxRecords } = this.#limits;
    const bytes = await this.#guard(() => readOwnFile(this.#path, { maxBytes: maxFileBytes }));
    return keptRecords(recordsFromBytes(this.#path, this.#format, bytes, maxRecords), maxRecords);
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toRecordFileError(this.#path, error);
    }
  }
}
