import { constants, type Stats } from "node:fs";
import { dirname } from "node:path";
import type { FileLock } from "../file-lock.ts";
import { syncDirectory } from "../file-system.ts";
import { isMissing } from "../system-error.ts";
import { JournalError } from "./journal-error.ts";
import { type JournalFileSystem, journalFileSystem } from "./journal-file-system.ts";
import { type FileEnd, readLastLine, wholeSize } from "./journal-tail.ts";
import { type OpenedFile, openPrivate } from "./open-private.ts";

export interface JournalFileOptions {
  readonly path: string;
  /** Bytes that the file may have: what would exceed them is refused, and a larger file is not opened. */
  readonly maxBytes: number;
  /** The lock that makes this process the only writer; released by `close`. @default none: the caller sees to that */
  readonly lock?: Pick<FileLock, "release"> | undefined;
  /**
   * Part of a line before which everything is flushed: behind the last such line, everything from a hole that a power loss left on
   * counts as absent; "" means in the whole file. @default no hole is looked for: it is damage, for a reader to name
   */
  readonly flushedBefore?: string | undefined;
  /** @default `node:fs` */
  readonly fileSystem?: JournalFileSystem | undefined;
}

/**
 * A file of lines that grows by appending and has one writer while it is open. What is appended is there whole or not at all; a
 * last line that its writer died in counts as absent.
 */
export class JournalFile {
  readonly path: string;
  /** Bytes at its end that its last writer died in, and that are not lines. They are there until `cutTail` or the first append. */
  readonly removedBytes: number;
  readonly #maxBytes: number;
  readonly #fileSystem: JournalFileSystem;
  readonly #lock: Pick<FileLock, "release"> | undefined;
  #file: number | undefined;
  #found: Stats;
  #size: number;
  /** True while something lies behind the last line. */
  #hasRest = false;
  /** Whether its name may not be durable yet. */
  #isNameNew = true;
  #isDisplaced = false;
  #flushing: Promise<void> = Promise.resolve();
  /** The flush that begins when the present one has ended: everything that was written by then has it in common. */
  #nextFlush: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  /**
   * Opens the file, and makes it, mode 0600, where there is none. Throws `UnsafeFileError` for a link, a larger file and one that
   * is not this user's own, and as the system does.
   */
  constructor(options: JournalFileOptions) {
    const { path, maxBytes, lock, flushedBefore, fileSystem = journalFileSystem } = options;
    this.path = path;
    this.#maxBytes = maxBytes;
    this.#fileSystem = fileSystem;
    this.#lock = lock;
    const { file, found } = openPrivate(fileSystem, path, { maxBytes });
    try {
      this.#size = wholeSize({ fileSystem, file, size: found.size }, flushedBefore);
    } catch (error) {
      fileSystem.closeSync(file);
      throw error;
    }
    this.#file = file;
    this.#found = found;
    this.removedBytes = found.size - this.#size;
    // Not before something is written: the file may turn out to be another program's.
    this.#hasRest = this.removedBytes > 0;
  }

  /** Bytes of its lines. */
  get size(): number {
    return this.#size;
  }

  /** The open file and its bytes, for a reader such as `readLines`. Throws `journal_closed`. */
  get end(): FileEnd {
    return { fileSystem: this.#fileSystem, file: this.#opened(), size: this.#size };
  }

  /** The last line, without its end; undefined where there is none. Throws as the system does. */
  lastLine(): Buffer | undefined {
    return readLastLine(this.end);
  }

  /** Cuts off what the last writer died in, which a reader of the file would meet. Throws as the system does. */
  cutTail(): void {
    this.#removeRest(this.#opened());
  }

  /**
   * Appends lines, each with its end: all of them, or none where it throws. The end of this process does not lose them. Throws
   * `journal_full`, `journal_closed`, `journal_displaced` after `demandPlace` did, and as the system does.
   */
  append(text: string): void {
    const file = this.#opened();
    if (this.#isDisplaced) throw this.#displaced();
    const bytes = Buffer.from(text, "utf8");
    this.#demandRoom(this.#size + bytes.length);
    this.#removeRest(file);
    try {
      for (let done = 0; done < bytes.length; )
        done += this.#fileSystem.writeSync(file, bytes, done, bytes.length - done);
    } catch (error) {
      this.#takeBack(file);
      throw error;
    }
    this.#size += bytes.length;
  }

  /** Appends lines that survive a power loss once it resolves. Where it rejects they are not there. One call at a time. */
  async appendFlushed(text: string): Promise<void> {
    const size = this.#size;
    this.append(text);
    try {
      await this.flush();
    } catch (error) {
      this.#size = size;
      if (this.#file !== undefined) this.#takeBack(this.#file);
      throw error;
    }
  }

  /** Makes durable what was appended. Calls that come during a flush share the next one. Rejects as the system does. */
  flush(): Promise<void> {
    this.#nextFlush ??= this.#flushing
      .catch(() => {})
      .then(() => {
        this.#nextFlush = undefined;
        this.#flushing = this.#flush();
        return this.#flushing;
      });
    return this.#nextFlush;
  }

  /**
   * Throws `journal_displaced`, from the first time on every time, where the name does not lead to this file any more, or the file
   * does not end where the last append ended. What is written to such a file is found by no other process.
   */
  demandPlace(): void {
    if (this.#file !== undefined) this.#removeRest(this.#file);
    this.#isDisplaced ||= !this.#isInPlace();
    if (this.#isDisplaced) throw this.#displaced();
  }

  /**
   * Puts other lines in the place of all, at once; those of before stay where it throws. Makes the file anew where its name is
   * free. Throws as `append` does, `journal_displaced` where another file has the name, and what `lines` throws.
   */
  replace(lines: Iterable<string>): void {
    const fileSystem = this.#fileSystem;
    const old = this.#opened();
    const present = this.#look();
    if (present !== undefined && !this.#isSame(present)) throw this.#displaced();
    const temporary = `${this.path}.tmp`;
    const next = openPrivate(fileSystem, temporary, { maxBytes: Number.POSITIVE_INFINITY });
    try {
      fileSystem.ftruncateSync(next.file, 0);
      let size = 0;
      for (const line of lines) {
        const bytes = Buffer.from(line, "utf8");
        size += bytes.length;
        this.#demandRoom(size);
        for (let done = 0; done < bytes.length; )
          done += fileSystem.writeSync(next.file, bytes, done, bytes.length - done);
      }
      fileSystem.fsyncSync(next.file);
      fileSystem.renameSync(temporary, this.path);
      this.#continueIn(next, size);
    } catch (error) {
      fileSystem.closeSync(next.file);
      throw error;
    }
    fileSystem.closeSync(old);
  }

  /** Gives the file, flushed, another name and begins a new one. Replaces no file. May be called again where it rejected. */
  async rotate(path: string): Promise<void> {
    const fileSystem = this.#fileSystem;
    const old = this.#opened();
    this.#removeRest(old);
    await this.flush();
    if (this.#look() !== undefined) {
      if (this.#look(path) !== undefined)
        throw new JournalError("journal_displaced", path, "is there already: move it away");
      fileSystem.renameSync(this.path, path);
    }
    this.#continueIn(openPrivate(fileSystem, this.path, { maxBytes: 0, flags: constants.O_EXCL }), 0);
    fileSystem.closeSync(old);
  }

  /** Closes the file and gives its lock back. Flushes nothing. Idempotent; rejects as the system does. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    try {
      await this.#flushing.catch(() => {});
      if (file !== undefined) this.#fileSystem.closeSync(file);
    } finally {
      await this.#lock?.release();
    }
  }

  async #flush(): Promise<void> {
    await this.#fileSystem.flush(this.#opened());
    if (!this.#isNameNew) return;
    await syncDirectory(dirname(this.path), this.#fileSystem);
    this.#isNameNew = false;
  }

  #continueIn({ file, found }: OpenedFile, size: number): void {
    this.#file = file;
    this.#found = found;
    this.#size = size;
    this.#hasRest = false;
    this.#isDisplaced = false;
    this.#isNameNew = true;
  }

  #opened(): number {
    if (this.#file !== undefined) return this.#file;
    throw new JournalError("journal_closed", this.path, "is closed");
  }

  #demandRoom(size: number): void {
    if (size <= this.#maxBytes) return;
    throw new JournalError("journal_full", this.path, `would have more than ${this.#maxBytes} bytes`);
  }

  #displaced(): JournalError {
    return new JournalError(
      "journal_displaced",
      this.path,
      "was moved, removed, replaced or cut while it was open",
    );
  }

  #look(path = this.path): Stats | undefined {
    try {
      return this.#fileSystem.lstatSync(path);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  #isSame(present: Stats | undefined): boolean {
    return present?.ino === this.#found.ino && present.dev === this.#found.dev;
  }

  #isInPlace(): boolean {
    const present = this.#look();
    return this.#isSame(present) && present?.size === this.#size;
  }

  #removeRest(file: number): void {
    if (!this.#hasRest) return;
    this.#fileSystem.ftruncateSync(file, this.#size);
    this.#hasRest = false;
  }

  /** Removes what a failed append has left; where that fails, too, before the next one. */
  #takeBack(file: number): void {
    this.#hasRest = true;
    try {
      this.#removeRest(file);
    } catch {
      // Nothing is written behind it meanwhile.
    }
  }
}
