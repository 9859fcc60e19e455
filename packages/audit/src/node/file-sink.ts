import { unlink } from "node:fs/promises";
import { resolve } from "node:path";
import {
  type JournalFile,
  type JournalFileSystem,
  JournalQueue,
  journalFileSystem,
} from "@harnesskit/node-kit";
import {
  callSafely,
  checkNumber,
  defineLimits,
  defineOptions,
  InvalidArgumentError,
  type LimitsOf,
} from "@harnesskit/wire";
import { AuditError } from "../audit-error.ts";
import type { AuditHead } from "../audit-head.ts";
import type { AuditDetails, AuditEntryInput } from "../entry.ts";
import { entryLimits, formatEntry } from "../format-entry.ts";
import { createRedactor, type Redactor } from "../redactor.ts";
import type { AuditSink } from "../sink.ts";
import { chainLine } from "./chain.ts";
import { numberedFiles } from "./log-files.ts";
import { type OpenedLog, openLog, toWriteError } from "./open-log.ts";

const megabyte = 1024 * 1024;

/** The limits of a file of the audit log, with their defaults. */
export const fileAuditLimits = defineLimits({
  ...entryLimits,
  /** Bytes of one file; at least twice `maxEntryBytes`. @default 67108864 */
  maxFileBytes: 64 * megabyte,
  /** Files kept, the current one included; older ones are removed. @default 16 */
  maxFiles: { default: 16, min: 2, max: 100_000 },
  /** Bytes that wait for a disk that takes none; at least four times `maxEntryBytes`. @default 8388608 */
  maxQueuedBytes: { default: 8 * megabyte, max: 1024 * megabyte },
});
export type FileAuditLimits = LimitsOf<typeof fileAuditLimits>;

export interface FileAuditSinkOptions {
  /** The file. Full ones get numbers behind its name. No other user may be able to write to its directory. */
  readonly path: string;
  /** Limits to override. @default each as `FileAuditSinkLimits` states */
  readonly limits?: Partial<FileAuditLimits> | undefined;
  /** Takes the secrets out; may be shared with other logs. @default createRedactor() */
  readonly redactor?: Redactor | undefined;
  /** Milliseconds since 1970. @default Date.now */
  readonly clock?: (() => number) | undefined;
  /** Receives writes that failed and entries that are dropped, the first of each outage. What it throws is ignored. @default no report */
  readonly onError?: ((error: AuditError) => void) | undefined;
}

const checkOptions = defineOptions<FileAuditSinkOptions>("openFileAuditSink", {
  ...{ path: true, limits: false, redactor: false, clock: false, onError: false },
});

/** An audit log in files. */
export interface FileAuditSink extends AuditSink {
  /** The last entry; it is on disk after `flush()`. Keep it elsewhere now and then, and verify the log against it. */
  readonly head: AuditHead;
  /** Entries that were never written: while the log was full, after `close`, or left when it failed. */
  readonly dropped: number;
  readonly isFull: boolean;
}

const emptied =
  "the file of the log was empty: its entries were removed, or its writer died before the first one";

class FileSink implements FileAuditSink {
  readonly #path: string;
  readonly #limits: FileAuditLimits;
  readonly #redactor: Redactor;
  readonly #clock: () => number;
  readonly #onError: (error: AuditError) => void;
  readonly #journal: JournalFile;
  readonly #queue: JournalQueue;
  #head: AuditHead;
  /** Bytes of the file once all that waits is written, and the number that it gets when it is full. */
  #fileBytes: number;
  #fileNumber: number;
  /** The removal of the oldest files, after the last one was full. */
  #tidying: Promise<void> = Promise.resolve();
  #dropped = 0;
  /** Entries dropped since the log is full. */
  #dropping = 0;
  #closing: Promise<void> | undefined;

  constructor(
    options: FileAuditSinkOptions,
    limits: FileAuditLimits,
    { journal, head, number, wasClosed, wasEmpty }: OpenedLog,
  ) {
    this.#path = journal.path;
    this.#limits = limits;
    this.#redactor = options.redactor ?? createRedactor();
    this.#clock = options.clock ?? Date.now;
    this.#onError = (error) => callSafely(() => options.onError?.(error));
    this.#journal = journal;
    this.#queue = new JournalQueue(journal, {
      maxBytes: limits.maxQueuedBytes,
      onError: (error) => this.#onError(toWriteError(error)),
    });
    this.#head = head;
    this.#fileBytes = journal.size;
    this.#fileNumber = number;
    if (journal.size === 0) this.#recordOpening();
    const { removedBytes } = journal;
    if (head.seq > 0 || removedBytes > 0 || wasEmpty)
      this.#recordOwn("audit.resumed", {
        was_closed: wasClosed && !wasEmpty,
        removed_bytes: removedBytes,
        was_empty: wasEmpty || undefined,
      });
    if (wasEmpty) this.#onError(new AuditError("audit_damaged", emptied));
  }

  get head(): AuditHead {
    return this.#head;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Two entries of the log's own always find room. */
  get isFull(): boolean {
    return !this.#queue.hasRoom(3 * this.#limits.maxEntryBytes);
  }

  record(entry: AuditEntryInput): void {
    if (this.#closing !== undefined) {
      this.#dropped++;
      return;
    }
    if (this.isFull) {
      this.#drop();
      return;
    }
    this.#recordDropped();
    this.#append(entry);
  }

  addSecret(value: string): boolean {
    return this.#redactor.addSecret(value);
  }

  removeSecret(value: string): void {
    this.#redactor.removeSecret(value);
  }

  async flush(): Promise<void> {
    await (this.#closing ?? this.#flush());
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #drop(): void {
    this.#dropped++;
    if (++this.#dropping > 1) return;
    const message = `maxQueuedBytes of ${this.#limits.maxQueuedBytes} wait for the disk: entries are dropped`;
    this.#onError(new AuditError("audit_queue_full", message, { count: 1 }));
  }

  #recordDropped(): void {
    const entries = this.#dropping;
    this.#dropping = 0;
    if (entries > 0) this.#recordOwn("audit.dropped", { entries, limit: "maxQueuedBytes" });
  }

  #recordOwn(action: `audit.${string}`, details: AuditDetails): void {
    this.#append({ action, details });
  }

  #append(entry: AuditEntryInput): void {
    const isFileFull = this.#fileBytes + this.#limits.maxEntryBytes > this.#limits.maxFileBytes;
    if (isFileFull) {
      this.#recordOpening(`${this.#path}.${this.#fileNumber++}`);
      this.#tidying = this.#queue.flush().then(
        () => this.#removeOldest(),
        () => {},
      );
    }
    this.#push(entry);
  }

  /** The first line of a file names what it follows, so that it can be verified where the files before are gone. */
  #recordOpening(rotateTo?: string): void {
    if (rotateTo !== undefined) this.#fileBytes = 0;
    const { seq, hash } = this.#head;
    const details = { format: 2, file: this.#fileNumber, previous_seq: seq, previous_hash: hash };
    this.#push({ action: "audit.opened", details }, rotateTo);
  }

  #push(entry: AuditEntryInput, rotateTo?: string): void {
    const seq = this.#head.seq + 1;
    const json = formatEntry(entry, seq, this.#clock(), { redactor: this.#redactor, limits: this.#limits });
    const { text, hash } = chainLine(this.#head.hash, json);
    this.#fileBytes += this.#queue.push(text, rotateTo);
    this.#head = { seq, hash };
  }

  async #flush(): Promise<void> {
    try {
      await this.#queue.flush();
    } catch (cause) {
      throw toWriteError(cause);
    }
    await this.#tidying;
  }

  async #removeOldest(): Promise<void> {
    try {
      const numbered = await numberedFiles(this.#path);
      const tooMany = numbered.slice(0, Math.max(0, numbered.length + 1 - this.#limits.maxFiles));
      for (const { path } of tooMany) await unlink(path);
    } catch (cause) {
      this.#onError(toWriteError(cause));
    }
  }

  async #close(): Promise<void> {
    try {
      this.#recordDropped();
      this.#recordOwn("audit.closed", { dropped: this.#dropped });
      await this.#flush();
    } catch (cause) {
      const count = this.#queue.length;
      this.#dropped += count;
      const message = `${count} audit entries could not be written`;
      const error = new AuditError("audit_entries_lost", message, { cause, count });
      this.#onError(error);
      throw error;
    } finally {
      this.#queue.stop();
      await this.#journal.close().catch(() => {});
    }
  }
}

/** Limits whose minima follow from others. Throws `invalid_argument`. */
const resolveLimits = (given: Partial<FileAuditLimits> = {}): FileAuditLimits => {
  const limits = fileAuditLimits.resolve(given);
  checkNumber("limits.maxFileBytes", limits.maxFileBytes, { min: 2 * limits.maxEntryBytes });
  checkNumber("limits.maxQueuedBytes", limits.maxQueuedBytes, { min: 4 * limits.maxEntryBytes });
  return limits;
};

/** {@link openFileAuditSink} on a file system that a test may make fail. */
export const openSink = async (
  options: FileAuditSinkOptions,
  fileSystem: JournalFileSystem = journalFileSystem,
): Promise<FileAuditSink> => {
  checkOptions(options);
  const { path } = options;
  if (typeof path !== "string" || path === "" || path.includes("\0"))
    throw new InvalidArgumentError("path must be a path in the file system: not empty, without NUL");
  const limits = resolveLimits(options.limits);
  const opened = await openLog(resolve(path), fileSystem);
  try {
    const sink = new FileSink(options, limits, opened);
    await sink.flush();
    return sink;
  } catch (error) {
    await opened.journal.close().catch(() => {});
    throw error;
  }
};

/**
 * Opens the audit log at a path, or continues the one that is there, and holds it until `close()`. Resolves once its
 * first entry is written. Rejects with `audit_locked` while another writer has it, `audit_insecure_path`, `audit_damaged` where its
 * last line is not one that a writer left, and `audit_write_failed`; throws `invalid_argument`.
 */
export const openFileAuditSink = (options: FileAuditSinkOptions): Promise<FileAuditSink> => openSink(options);
