import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { AuditError } from "../audit-error.ts";
import { type AuditFileSystem, codeOf } from "./file-system.ts";

/** Who writes a log. Two processes that had the same pid differ in `started`. */
interface LockOwner {
  readonly pid: number;
  readonly host: string;
  /** What the system says of the process's start; empty where it says nothing. */
  readonly started: string;
  readonly nonce: string;
}

/** When a process started, in the system's own units (Linux); empty where that cannot be read. */
const startOf = (pid: number): string => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command's name, in brackets, may hold anything; field 22 is counted behind its last bracket.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
};

/** True only with a proof: the process is gone from this host, or its pid belongs to a later one. */
const isDead = ({ pid, host, started }: LockOwner): boolean => {
  if (host !== hostname()) return false;
  if (!isAlive(pid)) return true;
  const now = startOf(pid);
  return started !== "" && now !== "" && now !== started;
};

const parseOwner = (text: string): LockOwner | undefined => {
  try {
    const { pid, host, started, nonce } = JSON.parse(text) as Partial<Record<keyof LockOwner, unknown>>;
    if (!Number.isSafeInteger(pid) || (pid as number) < 1) return undefined;
    if (typeof host !== "string" || typeof started !== "string") return undefined;
    if (typeof nonce !== "string" || !/^[\w-]{1,64}$/.test(nonce)) return undefined;
    return { pid: pid as number, host, started, nonce };
  } catch {
    return undefined;
  }
};

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
    this.#owner = { pid: process.pid, host: hostname(), started: startOf(process.pid), nonce: randomUUID() };
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
  async #create(path: string): Promise<boolean> {
    const temporary = `${this.#path}.${this.#owner.nonce}`;
    try {
      await this.#fileSystem.writeFile(temporary, JSON.stringify(this.#owner), { flag: "wx", mode: 0o600 });
      await this.#fileSystem.link(temporary, path);
      return true;
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false;
      throw error;
    } finally {
      await this.#remove(temporary);
    }
  }

  async #read(path: string): Promise<LockOwner | "unreadable" | undefined> {
    try {
      return parseOwner(await this.#fileSystem.readFile(path, "utf8")) ?? "unreadable";
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  async #remove(path: string): Promise<void> {
    try {
      await this.#fileSystem.unlink(path);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
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
