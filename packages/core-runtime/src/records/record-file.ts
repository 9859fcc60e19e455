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
import { systemClock, wait } from "@harnesskit/wire/time";
import { RecordFileError, toRecordFileError } from "./record-file-error.ts";
import { type RecordFormat, recordsFromBytes, recordsToText } from "./record-format.ts";
import {
  keptRecords,
  type RecordEdit,
  type RecordLimits,
  type RecordStore,
  recordLimits,
} from "./record-store.ts";

/** How long what was read counts without another look at the file. A change waits longer before it resolves. */
const freshMs = 2;
/** A file that was written this short a time ago may be written again without a visible difference. */
const unsettledMs = 100;
/** How often a file is read that changes while it is read. */
const maxReads = 10;

/** Options of a store in a file. */
export interface FileStoreOptions {
  readonly path: string;
  /** @default see {@link recordLimits} */
  readonly limits?: Partial<RecordLimits> | undefined;
}

interface Look<Item> {
  /** Identifies this state of the file. */
  readonly print: string;
  readonly isSettled: boolean;
  readonly items: readonly Item[];
}

const absent = "absent";

const lockOf = (path: string): string => `${path}.lock`;

const printOf = ({ dev, ino, size, mode, uid, nlink, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mode, uid, nlink, mtimeNs, ctimeNs].join(":");

const isSettled = ({ mtimeNs, ctimeNs }: BigIntStats): boolean => {
  const last = Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n);
  // Also a time to come is unsettled: the clock was set back.
  return Date.now() - last > unsettledMs;
};

/** Records in one private JSON file (0600), which is replaced as a whole under a lock beside it. */
export class RecordFile<Item> implements RecordStore<Item> {
  readonly #path: string;
  readonly #format: RecordFormat<Item>;
  readonly #limits: RecordLimits;
  #seen: Look<Item> | undefined;
  /** By a clock that is never set. */
  #seenAt = Number.NEGATIVE_INFINITY;
  #changes: Promise<unknown> = Promise.resolve();

  constructor(path: string, format: RecordFormat<Item>, limits?: Partial<RecordLimits>) {
    this.#path = resolve(path);
    this.#format = format;
    this.#limits = recordLimits.resolve(limits);
  }

  list(): readonly Item[] | Promise<readonly Item[]> {
    const now = performance.now();
    if (this.#seen && now - this.#seenAt < freshMs) return this.#seen.items;
    const found = this.#look();
    const print = found ? printOf(found) : absent;
    if (this.#seen?.print !== print || !this.#seen.isSettled) return this.#read();
    this.#seenAt = now;
    return this.#seen.items;
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
      this.#seen = undefined;
      await this.#guard(async () => {
        await removeTemporaries(this.#path);
        await removeLockRemains(lockOf(this.#path));
        await writeFileAtomic(this.#path, text);
      });
      // So long another process may still count what it read before.
      await wait(2 * freshMs, systemClock, undefined);
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

  /** Reads until the file has not changed meanwhile, so that what a change replaced is not returned after it. */
  async #read(): Promise<readonly Item[]> {
    for (let attempt = 1; attempt <= maxReads; attempt++) {
      const seenAt = performance.now();
      const found = this.#look();
      const items = found ? await this.#parse() : keptRecords<Item>([], 0);
      const print = found ? printOf(found) : absent;
      const after = this.#look();
      if ((after ? printOf(after) : absent) !== print) continue;
      this.#keep({ print, isSettled: !found || isSettled(found), items }, seenAt);
      return items;
    }
    throw new RecordFileError("record_file_unavailable", this.#path, "changes all the time");
  }

  async #parse(): Promise<readonly Item[]> {
    const { maxFileBytes, maxRecords } = this.#limits;
    const bytes = await this.#guard(() => readOwnFile(this.#path, { maxBytes: maxFileBytes }));
    return keptRecords(recordsFromBytes(this.#path, this.#format, bytes, maxRecords), maxRecords);
  }

  /** Of reads that overlap, the one that began last counts. */
  #keep(look: Look<Item>, seenAt: number): void {
    if (this.#seen && seenAt < this.#seenAt) return;
    this.#seen = look;
    this.#seenAt = seenAt;
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toRecordFileError(this.#path, error);
    }
  }
}
