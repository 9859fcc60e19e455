import { basename, dirname, resolve } from "node:path";
import {
  JournalError,
  JournalFile,
  makeDirectorySync,
  readLines,
  systemErrorCode,
} from "@harnesskit/node-kit";
import { checkFileStateStoreOptions } from "../option-names.ts";
import { parseStateRecord, type StateRecord } from "../state/state-record.ts";
import { type StateStore, StateStoreError } from "../state/state-store.ts";

export interface FileStateStoreOptions {
  /**
   * The file, made where it is missing, mode 0600; its directory is made too, mode 0700. One process uses it at a time: name
   * it beside an audit log, whose lock holds for both.
   */
  readonly path: string;
}

const maxLineBytes = 64 * 1024 * 1024;

const parseLine = (line: Buffer | undefined): StateRecord | undefined => {
  try {
    return parseStateRecord(JSON.parse(line?.toString("utf8") ?? ""));
  } catch {
    return undefined;
  }
};

const lineOf = (record: StateRecord): string => `${JSON.stringify(record)}\n`;

/** One line of JSON a record. A line that has its end is there whole. */
class FileStateStore implements StateStore {
  readonly #journal: JournalFile;

  constructor(path: string, maxBytes: number) {
    // Nothing of it is flushed but when it is replaced: what a power loss left of the rest ends at the first hole.
    this.#journal = new JournalFile({ path, maxBytes, flushedBefore: "" });
    this.#journal.cutTail();
  }

  get size(): number {
    return this.#journal.size;
  }

  *load(): Generator<StateRecord> {
    let number = 0;
    for (const { bytes } of readLines(this.#journal.end, maxLineBytes)) {
      const record = parseLine(bytes);
      number++;
      if (record === undefined) throw damaged(this.#journal.path, number);
      yield record;
    }
  }

  append(record: StateRecord): void {
    this.#write(() => {
      this.#journal.demandPlace();
      this.#journal.append(lineOf(record));
    });
  }

  replace(records: Iterable<StateRecord>): void {
    this.#write(() => this.#journal.replace(Array.from(records, lineOf)));
  }

  async close(): Promise<void> {
    await this.#journal.close();
  }

  #write(work: () => void): void {
    try {
      work();
    } catch (cause) {
      const why = JournalError.isInstance(cause) ? cause.code : systemErrorCode(cause);
      if (why === undefined) throw cause;
      throw new StateStoreError("state_not_kept", `the state cannot be written (${why})`, { cause });
    }
  }
}

const damaged = (path: string, line: number): StateStoreError =>
  new StateStoreError(
    "state_damaged",
    `line ${line} of the state's file ${basename(path)} cannot be read; the file is left as it is: move it away to begin anew`,
  );

/** {@link openFileStateStore} with another limit of the file's size: a record beyond it is not kept. */
export const openStateFile = (path: string, maxBytes = 268_435_456): StateStore => {
  try {
    makeDirectorySync(dirname(path));
    const store = new FileStateStore(path, maxBytes);
    let isRead = false;
    try {
      for (const _ of store.load());
      isRead = true;
    } finally {
      if (!isRead) void store.close();
    }
    return store;
  } catch (cause) {
    if (StateStoreError.isInstance(cause)) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StateStoreError("state_unreadable", `the state's file cannot be used: ${why}`, { cause });
  }
};

/**
 * Opens a store of the state in a file of at most 256 MiB. A last line without its end, which a process left that ended in the
 * middle of it, is removed: its event was never accepted. Throws {@link StateStoreError} `state_damaged` for a file with a line that
 * is not a record, and leaves it as it is; `state_unreadable` for one that is not this user's regular file, that has a second
 * name, that others can write to, that is larger, or that cannot be opened.
 */
export const openFileStateStore = (options: FileStateStoreOptions): StateStore => {
  checkFileStateStoreOptions(options);
  return openStateFile(resolve(options.path));
};
