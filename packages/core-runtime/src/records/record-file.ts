import { type BigIntStats, lstatSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  acquireFileLock,
  type FileLock,
  makeDirectory,
  privatePathProblem,
  readOwnFile,
  removeLockRemains,
  removeTemporaries,
  writeFileAtomic,
} from "@harnesskit/node-kit";
import { RecordFileError, toRecordFileError } from "./record-file-error.ts";
import { type RecordFormat, recordsFromBytes, recordsToText } from "./record-format.ts";
import {
  keptRecords,
  type RecordEdit,
  type RecordLimits,
  type RecordStore,
  recordLimits,
} from "./record-store.ts";

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
        await removeLockRemains(lockOf(this.#path));
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
