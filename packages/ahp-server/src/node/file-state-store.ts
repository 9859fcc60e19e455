import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  renameSync,
} from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { callSafely, InvalidArgumentError } from "@harnesskit/wire";
import { checkFileStateStoreOptions } from "../option-names.ts";
import { parseStateRecord, type StateRecord } from "../state/state-record.ts";
import { type StateStore, StateStoreError } from "../state/state-store.ts";
import {
  fileLines,
  openStateFile,
  remove,
  syncDirectoryOf,
  systemCodeOf,
  writeAll,
  writeLines,
} from "./state-file.ts";

export interface FileStateStoreOptions {
  /**
   * The file, made where it is missing, mode 0600; its directory is made too, mode 0700. One process uses it at a time: name
   * it beside an audit log, whose lock holds for both. Beside it there may be `.tmp` and `.damaged`.
   */
  readonly path: string;
  /** Notified of a damaged file (`state_damaged`), once. What it throws is ignored. @default nothing is notified */
  readonly onError?: ((error: StateStoreError) => void) | undefined;
  /**
   * How large the file may become: a record beyond is not kept (`state_not_kept`), and a larger file that is found counts as
   * damaged as a whole. @default 268435456 (256 MiB)
   */
  readonly maxBytes?: number | undefined;
}

const parseLine = (line: Buffer): StateRecord | undefined => {
  try {
    return parseStateRecord(JSON.parse(line.toString("utf8")));
  } catch {
    return undefined;
  }
};

const writeFailure = (cause: unknown): StateStoreError =>
  new StateStoreError("state_not_kept", `the state cannot be written (${systemCodeOf(cause)})`, { cause });

const displaced = (): StateStoreError =>
  new StateStoreError("state_not_kept", "the state's file was moved, removed or exchanged while it was open");

/** One line of JSON a record. A line that has its end is there whole. */
class FileStateStore implements StateStore {
  readonly #path: string;
  readonly #maxBytes: number;
  #file: number | undefined;
  #size: number;
  /** A failed write has left bytes behind that could not be taken back. */
  #isTorn = false;

  constructor(path: string, maxBytes: number, file: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#file = file;
    this.#size = fstatSync(file).size;
  }

  get size(): number {
    return this.#size;
  }

  *load(): Generator<StateRecord> {
    const file = openStateFile(this.#path, 0);
    try {
      for (const line of fileLines(file, this.#size)) {
        const record = parseLine(line);
        if (record) yield record;
      }
    } finally {
      closeSync(file);
    }
  }

  append(record: StateRecord): void {
    const file = this.#open();
    if (this.#place(file) !== "own") throw displaced();
    const bytes = Buffer.from(`${this.#isTorn ? "\n" : ""}${JSON.stringify(record)}\n`, "utf8");
    this.#assertFits(this.#size + bytes.length);
    try {
      writeAll(file, bytes);
      this.#isTorn = false;
      this.#size = fstatSync(file).size;
    } catch (cause) {
      this.#takeBack(file);
      throw writeFailure(cause);
    }
  }

  replace(records: Iterable<StateRecord>): void {
    const old = this.#open();
    if (this.#place(old) === "other") throw displaced();
    const temporary = `${this.#path}.tmp`;
    try {
      const lines = (function* () {
        for (const record of records) yield JSON.stringify(record);
      })();
      const size = writeLines(temporary, lines);
      this.#assertFits(size);
      const file = openStateFile(temporary, 0);
      renameSync(temporary, this.#path);
      closeSync(old);
      this.#file = file;
      this.#size = size;
      this.#isTorn = false;
    } catch (cause) {
      callSafely(() => remove(temporary));
      throw StateStoreError.isInstance(cause) ? cause : writeFailure(cause);
    }
    callSafely(() => syncDirectoryOf(this.#path));
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #open(): number {
    if (this.#file !== undefined) return this.#file;
    throw new StateStoreError("state_not_kept", "the store of the state is closed");
  }

  /** Whose file has the store's path now: what is written to a file without it is found by no process again. */
  #place(file: number): "own" | "other" | "free" {
    try {
      const found = lstatSync(this.#path, { throwIfNoEntry: false });
      if (found === undefined) return "free";
      const { dev, ino } = fstatSync(file);
      return found.dev === dev && found.ino === ino ? "own" : "other";
    } catch (cause) {
      throw writeFailure(cause);
    }
  }

  /** A larger file would be set aside by who opens it next. */
  #assertFits(size: number): void {
    if (size <= this.#maxBytes) return;
    const message = `the state's file would have ${size} bytes, more than maxBytes of ${this.#maxBytes}`;
    throw new StateStoreError("state_not_kept", message);
  }

  /** Removes what a failed write has left, so that the next record begins a line. */
  #takeBack(file: number): void {
    try {
      ftruncateSync(file, this.#size);
    } catch {
      this.#isTorn = true;
    }
  }
}

/** What of a file can be used. */
interface Found {
  /** Bytes up to the end of the last line. */
  readonly size: number;
  readonly lines: number;
  readonly badLines: readonly number[];
}

const maxNamedLines = 5;

const scan = (file: number): Found => {
  let size = 0;
  let lines = 0;
  const badLines: number[] = [];
  for (const line of fileLines(file, fstatSync(file).size)) {
    lines++;
    size += line.length + 1;
    if (!parseLine(line)) badLines.push(lines);
  }
  return { size, lines, badLines };
};

function* goodLines(file: number, size: number): Generator<string> {
  for (const line of fileLines(file, size)) if (parseLine(line)) yield line.toString("utf8");
}

/** Puts the good lines in the place of the file, at once, and a copy of the file as it was beside it. */
const repair = (path: string, file: number, size: number): number => {
  const temporary = `${path}.tmp`;
  writeLines(temporary, goodLines(file, size));
  closeSync(file);
  remove(`${path}.damaged`);
  copyFileSync(path, `${path}.damaged`, constants.COPYFILE_EXCL);
  renameSync(temporary, path);
  return openStateFile(path);
};

/** Begins a new file. */
const setAside = (path: string, file: number): number => {
  closeSync(file);
  renameSync(path, `${path}.damaged`);
  return openStateFile(path);
};

const damaged = (path: string, what: string): StateStoreError =>
  new StateStoreError(
    "state_damaged",
    `${what} of the state's file ${basename(path)} cannot be read and left out; the file as it was is ${basename(path)}.damaged`,
  );

/**
 * Opens a store of the state in a file. A last line without its end, which a process left that ended in the middle of it, is
 * removed: its event was never accepted. A damaged file is set aside as `.damaged`, reported, and what can be read of it goes
 * on. Throws `invalid_argument`, and {@link StateStoreError} `state_unreadable` for a file that is not this user's regular
 * file, that has a second name, or that cannot be opened.
 */
export const openFileStateStore = (options: FileStateStoreOptions): StateStore => {
  checkFileStateStoreOptions(options);
  const { onError, maxBytes = 268_435_456 } = options;
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1)
    throw new InvalidArgumentError(`maxBytes must be an integer of at least 1, got ${maxBytes}`);
  const path = resolve(options.path);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    let file = openStateFile(path);
    const { size } = fstatSync(file);
    if (size > maxBytes) {
      file = setAside(path, file);
      callSafely(() => onError?.(damaged(path, `all ${size} bytes, more than maxBytes of ${maxBytes},`)));
    } else {
      const found = scan(file);
      if (found.badLines.length > 0) {
        file = repair(path, file, found.size);
        const named = found.badLines.slice(0, maxNamedLines).join(", ");
        const more = found.badLines.length > maxNamedLines ? ", …" : "";
        const what = `${found.badLines.length} of ${found.lines} lines (${named}${more})`;
        callSafely(() => onError?.(damaged(path, what)));
      } else if (found.size < size) ftruncateSync(file, found.size);
    }
    return new FileStateStore(path, maxBytes, file);
  } catch (cause) {
    if (StateStoreError.isInstance(cause)) throw cause;
    const why = `the state's file cannot be used: the system says ${systemCodeOf(cause)}`;
    throw new StateStoreError("state_unreadable", why, { cause });
  }
};
