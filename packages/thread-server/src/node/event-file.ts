import { constants, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import type { Event } from "@harnesskit/protocol/threads";
import { repairTail } from "./repair-tail.ts";
import { noFollow, type StoreFileSystem, syncDirectory } from "./store-file-system.ts";

/** The append-only log of one thread: an event a line. */
export class EventFile {
  readonly #file: FileHandle;
  #size: number;
  /** True while something lies behind the last event that could not be taken back. */
  #hasRest = false;

  private constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.#size = size;
  }

  /** Opens the log, makes it where there is none, and cuts off a last line that was not written to its end. */
  static async open(fileSystem: StoreFileSystem, path: string): Promise<EventFile> {
    const file = await fileSystem.open(path, constants.O_RDWR | constants.O_CREAT | noFollow, 0o600);
    try {
      await syncDirectory(fileSystem, dirname(path));
      return new EventFile(file, await repairTail(file));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Appends the events as a whole: where the disk gives out in between, what was written of them is taken back. */
  async append(events: readonly Event[], flush: boolean): Promise<void> {
    let text = "";
    for (const event of events) text += `${JSON.stringify(event)}\n`;
    const bytes = Buffer.from(text, "utf8");
    try {
      await this.#removeRest();
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, this.#size + done);
        done += bytesWritten;
      }
      if (flush) await this.#file.datasync();
    } catch (error) {
      this.#hasRest = true;
      await this.#removeRest().catch(() => {});
      throw error;
    }
    this.#size += bytes.length;
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
