import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { ifPresent, openOwnFile, syncDirectory, UnsafeFileError } from "@harnesskit/node-kit";
import { AuditError } from "../audit-error.ts";
import type { AuditFileSystem } from "./file-system.ts";
import { listNumbered, numberedPath } from "./log-names.ts";
import { checkLogFile } from "./secure-path.ts";

const { O_APPEND, O_CREAT, O_EXCL, O_RDWR } = constants;

/** Opens a file of the log for appending, mode 0600. Throws `audit_insecure_path` for a link. */
export const openForAppend = async (
  fileSystem: AuditFileSystem,
  path: string,
  isNew: boolean,
): Promise<FileHandle> => {
  const flags = O_RDWR | O_APPEND | (isNew ? O_CREAT | O_EXCL : 0);
  let file: FileHandle;
  try {
    file = await openOwnFile(path, { flags, fileSystem });
  } catch (error) {
    if (!UnsafeFileError.isInstance(error)) throw error;
    throw new AuditError("audit_insecure_path", "the log is a link or no regular file: use another path", {
      cause: error,
    });
  }
  try {
    await checkLogFile(file);
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
};

/** The file that is appended to, and those that it was rotated to. */
export class LogFile {
  readonly #fileSystem: AuditFileSystem;
  readonly #path: string;
  readonly #maxFiles: number;
  #file: FileHandle;
  /** Bytes that belong to the log; what is behind them was not written to its end. */
  #size: number;
  #hasRest = false;
  #isRenamed = false;

  constructor(fileSystem: AuditFileSystem, path: string, maxFiles: number, file: FileHandle, size: number) {
    this.#fileSystem = fileSystem;
    this.#path = path;
    this.#maxFiles = maxFiles;
    this.#file = file;
    this.#size = size;
  }

  /** Appends the bytes as a whole: where the disk gives out in between, what was written of them is taken back. */
  async append(bytes: Buffer): Promise<void> {
    await this.#removeRest();
    try {
      for (let done = 0; done < bytes.length; ) {
        done += (await this.#file.write(bytes, done, bytes.length - done, null)).bytesWritten;
      }
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

  sync(): Promise<void> {
    return this.#file.datasync();
  }

  /** Gives the file its number and begins the next one. May be called again after it failed. */
  async rotate(number: number): Promise<void> {
    await this.#removeRest();
    if (!this.#isRenamed) await this.#rename(number - 1);
    const file = await openForAppend(this.#fileSystem, this.#path, true);
    this.#isRenamed = false;
    const old = this.#file;
    this.#file = file;
    this.#size = 0;
    await old.close();
    await syncDirectory(dirname(this.#path), this.#fileSystem);
  }

  async #rename(number: number): Promise<void> {
    await this.sync();
    const target = numberedPath(this.#path, number);
    // A rename would replace a file that is there.
    if ((await ifPresent(this.#fileSystem.lstat(target))) !== undefined) {
      const message = `a file ${number} of the log is there already: move it away`;
      throw new AuditError("audit_write_failed", message);
    }
    await this.#fileSystem.rename(this.#path, target);
    this.#isRenamed = true;
  }

  /** Removes the oldest files beyond `maxFiles`; gives how many. */
  async removeOldest(): Promise<number> {
    const numbered = await listNumbered(this.#fileSystem, this.#path);
    const tooMany = numbered.slice(0, Math.max(0, numbered.length + 1 - this.#maxFiles));
    for (const { path } of tooMany) await this.#fileSystem.unlink(path);
    return tooMany.length;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
