import { systemErrorCode } from "@harnesskit/node-kit";
import { AuditError } from "../audit-error.ts";
import type { AuditHead } from "../audit-head.ts";
import type { Block } from "./block-builder.ts";
import type { LogFile } from "./log-file.ts";

export interface LogWriterOptions {
  readonly file: LogFile;
  readonly head: AuditHead;
  readonly syncEachBlock: boolean;
  readonly retryIntervalMs: number;
  /** A block was written. */
  readonly onWritten: () => void;
  /** The system refused something. */
  readonly onError: (error: AuditError) => void;
}

interface Waiter {
  /** How many blocks have to be written. */
  readonly blocks: number;
  readonly resolve: () => void;
  readonly reject: (error: AuditError) => void;
}

const toWriteError = (cause: unknown): AuditError => {
  if (AuditError.isInstance(cause)) return cause;
  const code = systemErrorCode(cause);
  const why = code === "ENOSPC" || code === "EDQUOT" ? "the disk is full" : `the system says ${code ?? "no"}`;
  return new AuditError("audit_write_failed", `the audit log could not be written: ${why}`, { cause });
};

/** Writes blocks one after the other. What the disk refuses is kept and tried again. */
export class LogWriter {
  readonly #options: LogWriterOptions;
  #queue: Block[] = [];
  #queuedBytes = 0;
  #enqueued = 0;
  #written = 0;
  #synced = 0;
  #head: AuditHead;
  #running: Promise<void> | undefined;
  #waiters: Waiter[] = [];
  #retry: ReturnType<typeof setTimeout> | undefined;
  #hasFailed = false;

  constructor(options: LogWriterOptions) {
    this.#options = options;
    this.#head = options.head;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  get queuedLines(): number {
    return this.#queue.reduce((sum, { lines }) => sum + lines, 0);
  }

  /** What is on disk. */
  get head(): AuditHead {
    return this.#head;
  }

  enqueue(block: Block): void {
    this.#queue.push(block);
    this.#queuedBytes += block.bytes.length;
    this.#enqueued++;
    // While the disk refuses, the next try is the timer's or that of `drained`.
    if (!this.#hasFailed) this.#start();
  }

  /** Resolves once everything enqueued so far is written. Rejects with `audit_write_failed` when a try fails. */
  drained(): Promise<void> {
    if (this.#written === this.#enqueued) return Promise.resolve();
    const done = new Promise<void>((resolve, reject) => {
      this.#waiters.push({ blocks: this.#enqueued, resolve, reject });
    });
    this.#start();
    return done;
  }

  /** Makes durable what is written. Rejects with `audit_write_failed`. */
  async sync(): Promise<void> {
    const written = this.#written;
    if (this.#synced >= written) return;
    try {
      await this.#options.file.sync();
    } catch (cause) {
      const error = toWriteError(cause);
      this.#options.onError(error);
      throw error;
    }
    this.#synced = Math.max(this.#synced, written);
  }

  /** Ends the writer after its last try; what is queued stays unwritten. */
  async close(): Promise<void> {
    clearTimeout(this.#retry);
    await this.#running;
    clearTimeout(this.#retry);
    await this.#options.file.close();
  }

  #start(): void {
    if (this.#running !== undefined) return;
    clearTimeout(this.#retry);
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      // What came in while the last one ended.
      if (this.#queue.length > 0 && !this.#hasFailed) this.#start();
    });
  }

  async #run(): Promise<void> {
    for (let block = this.#queue[0]; block !== undefined; block = this.#queue[0]) {
      try {
        await this.#write(block);
      } catch (cause) {
        this.#fail(toWriteError(cause));
        return;
      }
      this.#hasFailed = false;
      this.#queue.shift();
      this.#queuedBytes -= block.bytes.length;
      this.#written++;
      this.#head = block.head;
      this.#settle();
      this.#options.onWritten();
    }
  }

  #rotatedTo = 0;

  async #write({ bytes, file: number }: Block): Promise<void> {
    const { file, syncEachBlock } = this.#options;
    if (number !== undefined && number !== this.#rotatedTo) {
      await file.rotate(number);
      this.#rotatedTo = number;
    }
    await file.append(bytes);
    if (number !== undefined) await this.#removeOldest();
    if (!syncEachBlock) return;
    await file.sync();
    this.#synced = this.#written + 1;
  }

  async #removeOldest(): Promise<void> {
    try {
      await this.#options.file.removeOldest();
    } catch (cause) {
      this.#options.onError(toWriteError(cause));
    }
  }

  #settle(): void {
    if (this.#waiters.length === 0) return;
    const done = this.#waiters.filter(({ blocks }) => blocks <= this.#written);
    this.#waiters = this.#waiters.filter(({ blocks }) => blocks > this.#written);
    for (const { resolve } of done) resolve();
  }

  #fail(error: AuditError): void {
    this.#hasFailed = true;
    const waiters = this.#waiters;
    this.#waiters = [];
    this.#retry = setTimeout(() => this.#start(), this.#options.retryIntervalMs);
    // A process that has nothing else to do is not kept alive by a full disk.
    this.#retry.unref();
    this.#options.onError(error);
    for (const { reject } of waiters) reject(error);
  }
}
