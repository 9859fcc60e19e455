import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import {
  createFileAtomic,
  isGone,
  isMissing,
  type ProcessIdentity,
  processStart,
  readOwnFile,
  UnsafeFileError,
} from "@harnesskit/node-kit";
import { AuditError } from "../audit-error.ts";
import type { AuditFileSystem } from "./file-system.ts";

/** Who writes a log. */
interface LockOwner extends ProcessIdentity {
  readonly host: string;
  readonly nonce: string;
}

/** True only with a proof: the process is gone from this host, or its pid belongs to a later one. */
const isDead = (owner: LockOwner): boolean => owner.host === hostname() && isGone(owner);

const parseOwner = (text: string): LockOwner | undefined => {
  try {
    const { pid, host, started, nonce } = JSON.parse(text) as Partial<Record<keyof LockOwner, unknown>>;
    if (!Number.isSafeInteger(pid) || (pid as number) < 1) return undefined;
    if (typeof host !== "string" || typeof started !== "string") return undefined;
    if (typeof nonce !== "string" || !/^[\w-]{1,64}$/.test(nonce)) return undefined;
    // Written empty where the system does not say it.
    return { pid: pid as number, host, started: started || undefined, nonce };
  } catch {
    return undefined;
  }
};

const maxLockBytes = 64 * 1024;

/** Each attempt removes one thing that a dead writer left. */
const maxAttempts = 10;

/** The right to write a log: a file beside it that names the process. */
export class WriterLock {
  readonly #fileSystem: AuditFileSystem;
  readonly #path: string;
  readonly #owner: LockOwner;

  private constructor(fileSystem: AuditFileSystem, path: string) {
    this.#fileSystem = fileSystem;
    this.#path = path;
    this.#owner = {
      pid: process.pid,
      host: hostname(),
      started: processStart(process.pid) ?? "",
      nonce: randomUUID(),
    };
  }

  /**
   * Takes the lock; one of a dead process is taken over. Throws `audit_locked` for one of a living process, of another
   * host, or of nobody that can be read.
   */
  static async acquire(fileSystem: AuditFileSystem, path: string): Promise<WriterLock> {
    const lock = new WriterLock(fileSystem, path);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (await lock.#create(path)) return lock;
      const owner = await lock.#read(path);
      if (owner === undefined) continue;
      if (owner === "unreadable" || !isDead(owner)) break;
      await lock.#removeStale(path, owner);
    }
    throw new AuditError("audit_locked", "another writer has the log open: stop it or use another path");
  }

  async release(): Promise<void> {
    const owner = await this.#read(this.#path);
    if (typeof owner === "object" && owner.nonce === this.#owner.nonce) await this.#remove(this.#path);
  }

  /** Makes the file with its whole content at once; false where there is one. */
  #create(path: string): Promise<boolean> {
    return createFileAtomic(path, JSON.stringify(this.#owner), this.#fileSystem);
  }

  async #read(path: string): Promise<LockOwner | "unreadable" | undefined> {
    try {
      const bytes = await readOwnFile(path, { maxBytes: maxLockBytes });
      return parseOwner(bytes.toString("utf8")) ?? "unreadable";
    } catch (error) {
      if (isMissing(error)) return undefined;
      if (UnsafeFileError.isInstance(error)) return "unreadable";
      throw error;
    }
  }

  async #remove(path: string): Promise<void> {
    try {
      await this.#fileSystem.unlink(path);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  /**
   * Removes what a dead owner left, one writer at a time: whoever makes the marker that names the dead one may. A marker
   * whose own maker has died is removed in the same way.
   */
  async #removeStale(path: string, owner: LockOwner): Promise<void> {
    const marker = `${this.#path}.${owner.nonce}.stale`;
    if (!(await this.#create(marker))) {
      const maker = await this.#read(marker);
      if (typeof maker === "object" && isDead(maker)) await this.#removeStale(marker, maker);
      return;
    }
    const now = await this.#read(path);
    if (typeof now === "object" && now.nonce === owner.nonce) await this.#remove(path);
    await this.#remove(marker);
  }
}
