import { AuditError } from "../audit-error.ts";
import { type AuditHead, genesis } from "../audit-head.ts";
import type { AuditDetails, AuditEntryInput } from "../entry.ts";
import { EntryFormatter } from "../entry-formatter.ts";
import { OpenAction } from "../open-action.ts";
import { quietly } from "../quietly.ts";
import type { AuditAction, AuditSink } from "../sink.ts";
import { snapshotOf } from "../snapshot.ts";
import { BlockBuilder } from "./block-builder.ts";
import type { SinkSettings } from "./file-sink-options.ts";
import { LogFile } from "./log-file.ts";
import { LogWriter } from "./log-writer.ts";
import type { OpenedLog } from "./open-log.ts";
import type { WriterLock } from "./writer-lock.ts";

/** An audit log in files. */
export interface FileAuditSink extends AuditSink {
  /** What is written so far: keep it elsewhere now and then, and verify the log against it. */
  readonly head: AuditHead;
  /** Entries that were never written: beyond `maxQueuedBytes`, after `close`, or left when it failed. */
  readonly dropped: number;
  begin(entry: AuditEntryInput): AuditAction;
}

/** Room for a line beside its body. */
const lineOverheadBytes = 256;
/** Beginnings that wait for their ends; at one more, all that did not end are written. */
const maxOpenActions = 4096;
/** Entries of a turn that are waited with; beyond, they are written at once. */
const maxSoon = 1024;

/** The sink behind `createFileAuditSink`. */
export class FileSink implements FileAuditSink {
  readonly #settings: SinkSettings;
  readonly #formatter: EntryFormatter;
  readonly #builder: BlockBuilder;
  readonly #writer: LogWriter;
  readonly #lock: WriterLock;
  readonly #reservedBytes: number;
  /** Bytes of the file once everything so far is written, and its number. */
  #fileBytes: number;
  #fileNumber: number;
  /** The time of what is in the buffer has come. */
  #isDue = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** In the order of their beginnings; those that ended are still among them. */
  #open: OpenAction[] = [];
  #soon: { readonly entry: AuditEntryInput; readonly timeMs: number; readonly isNested: boolean }[] = [];
  /** What is read now. An entry that is recorded by that, in a getter, comes behind; by one that came so, it is dropped. */
  #reading: "entry" | "nested" | undefined;
  readonly #stopListening: () => void;
  #dropped = 0;
  /** Entries dropped since the queue was full; undefined while it is not. */
  #dropping: number | undefined;
  #closing: Promise<void> | undefined;

  constructor(settings: SinkSettings, log: OpenedLog, lock: WriterLock) {
    this.#settings = settings;
    this.#lock = lock;
    this.#formatter = new EntryFormatter(settings.redactor, settings.limits);
    this.#reservedBytes = settings.limits.maxEntryBytes + lineOverheadBytes;
    this.#stopListening = settings.redactor.beforeRemoval(() => this.#writeWaiting());
    const { head, unsealed, unsealedLines } = log;
    this.#builder = new BlockBuilder({ head, unsealed, unsealedLines, blockBytes: settings.maxBlockBytes });
    this.#fileBytes = log.sizeBytes;
    this.#fileNumber = log.number;
    this.#writer = new LogWriter({
      file: new LogFile(settings.fileSystem, settings.path, settings.maxFiles, log.file, log.sizeBytes),
      head,
      syncEachBlock: settings.sync === "block",
      retryIntervalMs: settings.retryIntervalMs,
      onWritten: (block) => {
        this.#builder.release(block);
        this.#endDropping(false);
        if (this.#isDue && this.#writer.queuedBytes === 0) this.#seal();
      },
      onError: (error) => this.#tell(error),
    });
    this.#begin(log);
  }

  /** Writes what the constructor recorded. Rejects with `audit_write_failed`, and the sink is at its end. */
  async open(): Promise<void> {
    try {
      await this.#flush();
    } catch (error) {
      this.#closing = Promise.resolve();
      this.#stopListening();
      await this.#writer.close().catch(() => {});
      throw error;
    }
  }

  get head(): AuditHead {
    return this.#writer.head;
  }

  get dropped(): number {
    return this.#dropped;
  }

  record(entry: AuditEntryInput): void {
    this.#writeWaiting();
    this.#append(entry);
  }

  recordSoon(entry: AuditEntryInput): void {
    this.#writeOpen();
    this.#appendSoon(entry, this.#now());
    if (this.#soon.length >= maxSoon) this.#writeSoon();
  }

  begin(entry: AuditEntryInput): AuditAction {
    this.#writeSoon();
    const open = this.#toOpen(entry);
    if (open.isTold) return open;
    if (this.#open.length >= maxOpenActions) this.#writeOpen();
    this.#open.push(open);
    this.#startTimer();
    return open;
  }

  addSecret(value: string): boolean {
    return this.#settings.redactor.addSecret(value);
  }

  removeSecret(value: string): void {
    this.#settings.redactor.removeSecret(value);
  }

  flush(): Promise<void> {
    return this.#closing ?? this.#flush();
  }

  close(): Promise<void> {
    this.#writeWaiting();
    this.#closing ??= this.#close();
    return this.#closing;
  }

  readonly #append = (entry: AuditEntryInput, timeMs = this.#now(), isNested = false): void => {
    if (this.#reading !== undefined) {
      this.#appendSoon(entry, timeMs);
      return;
    }
    if (this.#closing !== undefined || !this.#hasRoom()) {
      this.#dropped++;
      return;
    }
    this.#prepare();
    const line = this.#read(entry, timeMs, isNested);
    // Its reading may have closed the sink.
    if (this.#closing !== undefined) this.#dropped++;
    else this.#builder.append(line);
    this.#startTimer();
  };

  #read(entry: AuditEntryInput, timeMs: number, isNested: boolean): string {
    this.#reading = isNested ? "nested" : "entry";
    try {
      return this.#formatter.format(entry, this.#builder.seq + 1, timeMs);
    } finally {
      this.#reading = undefined;
    }
  }

  #appendSoon(entry: AuditEntryInput, timeMs: number): void {
    if (this.#reading === "nested") {
      this.#dropped++;
      return;
    }
    if (this.#soon.length === 0) queueMicrotask(() => queueMicrotask(this.#writeSoon));
    this.#soon.push({ entry, timeMs, isNested: this.#reading !== undefined });
  }

  /** Behind what waits. */
  readonly #appendNext = (entry: AuditEntryInput, timeMs?: number): void => {
    this.#writeSoon();
    this.#append(entry, timeMs);
  };

  #startTimer(): void {
    this.#timer ??= setTimeout(this.#onTimer, this.#settings.flushIntervalMs);
  }

  /** The beginning is told at once where there is no time left, and where it cannot be read whole. */
  #toOpen(entry: AuditEntryInput): OpenAction {
    const timeMs = this.#now();
    let open: OpenAction;
    let isTold = this.#closing !== undefined;
    try {
      open = new OpenAction(entry, timeMs, this.#appendNext);
    } catch {
      isTold = true;
      open = new OpenAction(snapshotOf(entry).snapshot, timeMs, this.#appendNext);
    }
    open.isTold = isTold;
    if (isTold) this.record(entry);
    return open;
  }

  /** What is waited with: entries of this turn, or beginnings. One of the two is empty at any time. */
  #writeWaiting(): void {
    this.#writeSoon();
    this.#writeOpen();
  }

  /** The second microtask: a channel writes what a turn sends in the first. */
  readonly #writeSoon = (): void => {
    // What an entry that is read records comes behind what waits already.
    if (this.#soon.length === 0 || this.#reading !== undefined) return;
    const soon = this.#soon;
    this.#soon = [];
    for (const { entry, timeMs, isNested } of soon) this.#append(entry, timeMs, isNested);
  };

  /** Tells the beginnings whose ends have not come. */
  #writeOpen(): void {
    if (this.#open.length === 0) return;
    const open = this.#open;
    this.#open = [];
    for (const action of open) {
      if (action.isTold) continue;
      action.isTold = true;
      this.#append(action, action.begunAt);
    }
  }

  #begin({ isNew, removedBytes, unsealedLines, wasClosed, head }: OpenedLog): void {
    if (isNew) this.#beginFile(head);
    if (head.seq === genesis.seq && removedBytes === 0) return;
    this.#recordOwn("audit.resumed", {
      was_closed: wasClosed,
      removed_bytes: removedBytes,
      unsealed_entries: unsealedLines,
    });
  }

  readonly #onTimer = (): void => {
    this.#writeOpen();
    this.#timer = undefined;
    this.#isDue = true;
    // Behind a write under way, or one that the disk refuses, more comes together.
    if (this.#writer.queuedBytes === 0) this.#seal();
  };

  #now(): number {
    try {
      return this.#settings.clock();
    } catch {
      return 0;
    }
  }

  #tell(error: AuditError): void {
    // The one who is told is not to stop the log.
    quietly(() => this.#settings.onError(error));
  }

  /** Seals what is in the buffer and hands it to the writer. */
  #seal(): void {
    this.#isDue = false;
    const block = this.#builder.seal();
    if (block === undefined) return;
    this.#fileBytes += block.bytes.length;
    this.#writer.enqueue(block);
  }

  /** Makes room for one more line, in the next file where this one is full. */
  #prepare(): void {
    if (this.#builder.freeBytes < this.#reservedBytes) this.#seal();
    if (!this.#builder.isSealed) return;
    if (this.#fileBytes + this.#settings.maxBlockBytes <= this.#settings.maxFileBytes) return;
    this.#fileNumber++;
    this.#fileBytes = 0;
    this.#builder.beginFile(this.#fileNumber);
    this.#beginFile({ seq: this.#builder.seq, hash: this.#builder.hash });
  }

  #beginFile(previous: AuditHead): void {
    const details = {
      format: 1,
      file: this.#fileNumber,
      previous_seq: previous.seq,
      previous_hash: previous.hash,
    };
    this.#builder.append(
      this.#formatter.formatOwn("audit.opened", details, this.#builder.seq + 1, this.#now()),
    );
  }

  #recordOwn(action: `audit.${string}`, details: AuditDetails): void {
    this.#prepare();
    this.#builder.append(this.#formatter.formatOwn(action, details, this.#builder.seq + 1, this.#now()));
  }

  #queuedBytes(): number {
    return this.#writer.queuedBytes + this.#builder.usedBytes;
  }

  /** Counts the entry and says so where the queue is full. */
  #hasRoom(): boolean {
    const { maxQueuedBytes } = this.#settings;
    if (this.#dropping !== undefined) this.#endDropping(false);
    if (this.#dropping === undefined) {
      if (this.#queuedBytes() + this.#reservedBytes <= maxQueuedBytes) return true;
      this.#dropping = 0;
      const message = `maxQueuedBytes of ${maxQueuedBytes} is reached: audit entries are dropped`;
      this.#tell(new AuditError("audit_queue_full", message, { count: this.#dropped + 1 }));
    }
    this.#dropping++;
    return false;
  }

  /** Records how many entries were dropped, once half of the queue is free again, so that this is not said too often. */
  #endDropping(evenIfFull: boolean): void {
    const { maxQueuedBytes } = this.#settings;
    const dropped = this.#dropping;
    if (dropped === undefined || (!evenIfFull && this.#queuedBytes() > maxQueuedBytes / 2)) return;
    this.#dropping = undefined;
    this.#recordOwn("audit.dropped", {
      entries: dropped,
      limit: "maxQueuedBytes",
      limit_bytes: maxQueuedBytes,
    });
    this.#startTimer();
  }

  async #flush(): Promise<void> {
    this.#writeWaiting();
    this.#seal();
    await this.#writer.drained();
    if (this.#settings.sync !== "never") await this.#writer.sync();
  }

  async #close(): Promise<void> {
    this.#endDropping(true);
    this.#recordOwn("audit.closed", { dropped: this.#dropped });
    clearTimeout(this.#timer);
    try {
      await this.#flush();
    } catch (cause) {
      const count = this.#writer.queuedLines;
      this.#dropped += count;
      if (count === 0) throw cause;
      const error = new AuditError("audit_entries_lost", `${count} audit entries could not be written`, {
        cause,
        count,
      });
      this.#tell(error);
      throw error;
    } finally {
      clearTimeout(this.#timer);
      this.#stopListening();
      await this.#writer.close().catch(() => {});
      await this.#lock.release().catch(() => {});
    }
  }
}
