import { callSafely } from "@harnesskit/wire";
import { JournalError } from "./journal-error.ts";
import type { JournalFile } from "./journal-file.ts";

export interface JournalQueueOptions {
  /** Bytes that wait for the disk. */
  readonly maxBytes: number;
  /** Receives the first error of each outage of the disk. What it throws is ignored. */
  readonly onError: (error: unknown) => void;
}

/** Lines that go into one file. */
interface Group {
  /** Where the file goes that is full before them. */
  rotateTo: string | undefined;
  text: string;
  lines: number;
}

/** How long a line waits for others that are written together with it. */
const groupMs = 10;
/** How long after a write that failed. */
const retryMs = 1000;

/**
 * Lines on their way into a journal that the caller does not wait for. What the disk refuses stays and is tried again, so that
 * nothing is lost while it is full; the queue is bounded.
 */
export class JournalQueue {
  readonly #journal: JournalFile;
  readonly #options: JournalQueueOptions;
  readonly #groups: Group[] = [];
  #bytes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | undefined;
  #isFailing = false;

  constructor(journal: JournalFile, options: JournalQueueOptions) {
    this.#journal = journal;
    this.#options = options;
  }

  /** Lines that are not written. */
  get length(): number {
    return this.#groups.reduce((sum, { lines }) => sum + lines, 0);
  }

  /** Whether a line of so many bytes finds room. */
  hasRoom(bytes: number): boolean {
    return this.#bytes + bytes <= this.#options.maxBytes;
  }

  /**
   * Takes a line, with its end, and gives its bytes. Throws `journal_full` where the queue is.
   *
   * @param rotateTo the name that the file gets before, so that the line is the first one of the next file
   */
  push(text: string, rotateTo?: string): number {
    const bytes = Buffer.byteLength(text);
    if (!this.hasRoom(bytes)) {
      const problem = `cannot be written, and ${this.#options.maxBytes} bytes wait for it already`;
      throw new JournalError("journal_full", this.#journal.path, problem);
    }
    let group = this.#groups.at(-1);
    if (group === undefined || rotateTo !== undefined) {
      group = { rotateTo, text: "", lines: 0 };
      this.#groups.push(group);
    }
    group.text += text;
    group.lines++;
    this.#bytes += bytes;
    this.#timer ??= setTimeout(this.#onTimer, groupMs);
    return bytes;
  }

  /** Settles when what was pushed is durable. Rejects with what refused it, and then it stays. */
  async flush(): Promise<void> {
    while (this.#groups.length > 0) await this.#write();
    await this.#journal.flush();
  }

  /** Writes nothing more. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined;
    // A write that fails arms the timer again.
    this.#write().catch(() => {});
  };

  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    try {
      for (let group = this.#groups[0]; group !== undefined; group = this.#groups[0]) {
        if (group.rotateTo !== undefined) await this.#journal.rotate(group.rotateTo);
        group.rotateTo = undefined;
        this.#journal.append(group.text);
        this.#groups.shift();
        this.#bytes -= Buffer.byteLength(group.text);
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) callSafely(() => this.#options.onError(error));
      this.#isFailing = true;
      clearTimeout(this.#timer);
      // A process that has nothing else to do is not kept alive by a full disk.
      this.#timer = setTimeout(this.#onTimer, retryMs).unref();
      throw error;
    }
  }
}
