import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { isMissing, syncDirectory } from "@harnesskit/node-kit";
import type { Event } from "@harnesskit/protocol/threads";
import { isLogChanged, logChanged, ThreadStoreError } from "../errors.ts";
import { repairTail } from "./repair-tail.ts";
import type { StoreFileSystem } from "./store-file-system.ts";

/** After these a turn or a tool runs, which must not happen with a log that is not there; flushed or not. */
const precedesAction = ({ type, data }: Event): boolean =>
  type === "turn.started" ||
  type === "approval.resolved" ||
  (type === "item.started" && data.type === "tool_exec");

const logFull = (maxBytes: number): ThreadStoreError =>
  new ThreadStoreError(
    "store_full",
    `The log of the thread has reached ${maxBytes} bytes: begin another thread`,
  );

/** The append-only log of one thread: an event a line. */
export class EventFile {
  readonly #fileSystem: StoreFileSystem;
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #inode: number;
  readonly #maxBytes: number;
  #size: number;
  /** True while something lies behind the last event that could not be taken back. */
  #hasRest = false;
  #isChanged = false;

  private constructor(
    fileSystem: StoreFileSystem,
    path: string,
    file: FileHandle,
    { inode, size, maxBytes }: { inode: number; size: number; maxBytes: number },
  ) {
    this.#fileSystem = fileSystem;
    this.#path = path;
    this.#file = file;
    this.#inode = inode;
    this.#maxBytes = maxBytes;
    this.#size = size;
  }

  /** Opens the log, creates it if needed, and cuts off a last line that was not written to its end. */
  static async open(fileSystem: StoreFileSystem, path: string, maxBytes: number): Promise<EventFile> {
    const file = await fileSystem.openLog(path, "append", maxBytes);
    try {
      await syncDirectory(dirname(path), fileSystem);
      const size = await repairTail(file);
      return new EventFile(fileSystem, path, file, { inode: (await file.stat()).ino, size, maxBytes });
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /**
   * Appends the events as a whole: where the disk gives out in between, what was written of them is taken back. Before a
   * flush and before what lets a tool run, looks whether the file is still the one that was written; rejects with
   * `log_changed`, from then on every time, when it is not, and with `store_full` for what would exceed the limit.
   */
  async append(events: readonly Event[], flush: boolean): Promise<void> {
    if (this.#isChanged) throw logChanged();
    let text = "";
    for (const event of events) text += `${JSON.stringify(event)}\n`;
    const bytes = Buffer.from(text, "utf8");
    if (this.#size + bytes.length > this.#maxBytes) throw logFull(this.#maxBytes);
    try {
      await this.#removeRest();
      if (flush || events.some(precedesAction)) this.#check();
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, null);
        done += bytesWritten;
      }
      if (flush) await this.#file.datasync();
    } catch (error) {
      if (isLogChanged(error)) throw error;
      this.#hasRest = true;
      await this.#removeRest().catch(() => {});
      throw error;
    }
    this.#size += bytes.length;
  }

  /**
   * The name must still lead to this file, and the file must end where the last write ended. Each write goes to the end of
   * the file, so that one after a cut cannot restore its length.
   */
  #check(): void {
    if (this.#isInPlace()) return;
    this.#isChanged = true;
    throw logChanged();
  }

  #isInPlace(): boolean {
    try {
      const { ino, size } = this.#fileSystem.lstatSync(this.#path);
      return ino === this.#inode && size === this.#size;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async #removeRest(): Promise<void> {
    if (!this.#hasRest) return;
    await this.#file.truncate(this.#size);
    this.#hasRest = false;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
