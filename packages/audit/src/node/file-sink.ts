import type { FileLock } from "@harnesskit/node-kit";
import { callSafely } from "@harnesskit/wire";
import { AuditError } from "../audit-error.ts";
import { type AuditHead, genesis } from "../audit-head.ts";
import type { AuditDetails, AuditEntryInput } from "../entry.ts";
import { EntryFormatter } from "../entry-formatter.ts";
import { EntryIntake } from "../entry-intake.ts";
import { readClock } from "../read-clock.ts";
import type { AuditAction } from "../sink.ts";
import { EntrySnapshot } from "../snapshot.ts";
import { BlockBuilder } from "./block-builder.ts";
import type { FileAuditSink, SinkSettings } from "./file-sink-options.ts";
import { LogFile } from "./log-file.ts";
import { LogWriter } from "./log-writer.ts";
import { OpenAction, OpenActions, type WriteEntry } from "./open-actions.ts";
import type { OpenedLog } from "./open-log.ts";

/** Room for a line beside its body. */
const lineOverheadBytes = 256;

interface TimedEntry {
  readonly entry: unknown;
  readonly timeMs: number;
}

/** The sink behind `openFileAuditSink`. */
export class FileSink implements FileAuditSink {
  readonly #settings: SinkSettings;
  readonly #formatter: EntryFormatter;
  readonly #builder: BlockBuilder;
  readonly #writer: LogWriter;
  readonly #lock: FileLock;
  readonly #reservedBytes: number;
  /** Bytes of the file once everything so far is written, and its number. */
  #fileBytes: number;
  #fileNumber: number;
  /** What is in the buffer is to be written. */
  #isDue = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #write: WriteEntry = (entry, timeMs = this.#now()) => this.#intake.take({ entry, timeMs });
  readonly #open = new OpenActions(this.#write);
  readonly #intake = new EntryIntake<TimedEntry>((entry) => this.#take(entry));
  readonly #stopListening: () => void;
  #dropped = 0;
  /** Entries dropped since the queue was full; undefined while it is not. */
  #dropping: number | undefined;
  #closing: Promise<void> | undefined;

  constructor(settings: SinkSettings, log: OpenedLog, lock: FileLock) {
    this.#settings = settings;
    this.#lock = lock;
    this.#formatter = new EntryFormatter(settings.redactor, settings.limits);
    this.#reservedBytes = settings.limits.maxEntryBytes + lineOverheadBytes;
    this.#stopListening = settings.redactor.beforeRemoval(() => this.#open.writeAll());
    const { head, unsealed, unsealedLines } = log;
    this.#builder = new BlockBuilder({
      head,
      unsealed,
      unsealedLines,
      blockBytes: settings.limits.maxBlockBytes,
    });
    this.#fileBytes = log.sizeBytes;
    this.#fileNumber = log.number;
    this.#writer = new LogWriter({
      file: new LogFile(
        settings.fileSystem,
        settings.path,
        settings.limits.maxFiles,
        log.file,
        log.sizeBytes,
      ),
      head,
      syncEachBlock: settings.sync === "block",
      retryIntervalMs: settings.retryIntervalMs,
      onWritten: () => {
        this.#endDropping(false);
        if (this.#isDue && this.#writer.queuedBytes === 0) this.#seal();
      },
      onError: (error) => this.#report(error),
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
    return this.#dropped + this.#intake.dropped;
  }

  record(entry: AuditEntryInput): void {
    this.#open.writeAll();
    this.#write(entry);
  }

  /** The beginning is recorded at once where the sink is closed, and where it cannot be read whole. */
  begin(entry: AuditEntryInput): AuditAction {
    const timeMs = this.#now();
    const snapshot = new EntrySnapshot(entry);
    const isRecorded = this.#closing !== undefined || snapshot.isUnreadable || snapshot.isInvalid;
    snapshot.ownDetails();
    const open = new OpenAction(snapshot, timeMs, isRecorded, this.#write);
    if (isRecorded) {
      this.record(entry);
      return open;
    }
    this.#open.add(open);
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
    this.#open.writeAll();
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #take({ entry, timeMs }: TimedEntry): void {
    if (this.#closing !== undefined || !this.#hasRoom()) {
      this.#dropped++;
      return;
    }
    this.#prepare();
    const line = this.#formatter.format(entry, this.#builder.seq + 1, timeMs);
    // Its reading may have closed the sink.
    if (this.#closing !== undefined) this.#dropped++;
    else this.#builder.append(line);
    this.#startTimer();
  }

  #startTimer(): void {
    this.#timer ??= setTimeout(this.#onTimer, this.#settings.flushIntervalMs);
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
    this.#open.writeAll();
    this.#timer = undefined;
    this.#isDue = true;
    // Behind a write in progress, or one that the disk refuses, more is collected.
    if (this.#writer.queuedBytes === 0) this.#seal();
  };

  #now(): number {
    return readClock(this.#settings.clock);
  }

  #report(error: AuditError): void {
    callSafely(() => this.#settings.onError(error));
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
    if (this.#fileBytes + this.#settings.limits.maxBlockBytes <= this.#settings.limits.maxFileBytes) return;
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
    this.#appendOwn("audit.opened", details);
  }

  #recordOwn(action: `audit.${string}`, details: AuditDetails): void {
    this.#prepare();
    this.#appendOwn(action, details);
  }

  #appendOwn(action: `audit.${string}`, details: AuditDetails): void {
    this.#builder.append(this.#formatter.formatOwn(action, details, this.#builder.seq + 1, this.#now()));
  }

  #queuedBytes(): number {
    return this.#writer.queuedBytes + this.#builder.usedBytes;
  }

  /** Counts the entry and reports where the queue is full. */
  #hasRoom(): boolean {
    const { maxQueuedBytes } = this.#settings.limits;
    if (this.#dropping !== undefined) this.#endDropping(false);
    if (this.#dropping === undefined) {
      if (this.#queuedBytes() + this.#reservedBytes <= maxQueuedBytes) return true;
      this.#dropping = 0;
      const message = `maxQueuedBytes of ${maxQueuedBytes} is reached: audit entries are dropped`;
      this.#report(new AuditError("audit_queue_full", message, { count: this.#dropped + 1 }));
    }
    this.#dropping++;
    return false;
  }

  /** Records how many entries were dropped, once half of the queue is free again, so that this is not reported too often. */
  #endDropping(evenIfFull: boolean): void {
    const { maxQueuedBytes } = this.#settings.limits;
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
    this.#open.writeAll();
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
      this.#report(error);
      throw error;
    } finally {
      clearTimeout(this.#timer);
      this.#stopListening();
      await this.#writer.close().catch(() => {});
      await this.#lock.release().catch(() => {});
    }
  }
}
