import { createHash } from "node:crypto";
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";

/** The endings of the files that a store lies in. */
const endings = ["", "-wal", "-shm"] as const;
export type Ending = (typeof endings)[number];
export type Files = Readonly<Record<Ending, Buffer | undefined>>;

/** A moment of the first life that leaves something else than every other one, or was known differently to the clients. */
export interface CrashPoint<Evidence> {
  readonly label: string;
  readonly files: Files;
  readonly evidence: Evidence;
}

const digest = (bytes: Buffer | undefined): string =>
  bytes === undefined ? "none" : createHash("sha1").update(bytes).digest("base64");

const isSame = (a: Buffer | undefined, b: Buffer | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.equals(b);

/**
 * Copies a store's files at the moments that it is told of. What a process that is killed leaves is what lies in its files then: what
 * was written is in the page cache, and that outlives the process.
 */
export class CrashPoints<Evidence> {
  readonly #path: string;
  readonly #evidence: () => Evidence;
  readonly #points = new Map<string, CrashPoint<Evidence>>();
  readonly #descriptors = new Map<Ending, number>();
  #last: Files = { "": undefined, "-wal": undefined, "-shm": undefined };
  #lastDigest = "";
  looked = 0;
  /** How many of the distinct ones are cut out of the middle of a write. */
  torn = 0;

  constructor(path: string, evidence: () => Evidence) {
    this.#path = path;
    this.#evidence = evidence;
  }

  get points(): readonly CrashPoint<Evidence>[] {
    return [...this.#points.values()];
  }

  #read(ending: Ending): Buffer | undefined {
    const path = `${this.#path}${ending}`;
    let descriptor = this.#descriptors.get(ending);
    if (descriptor === undefined) {
      if (!existsSync(path)) return undefined;
      descriptor = openSync(path, "r");
      this.#descriptors.set(ending, descriptor);
    }
    const bytes = Buffer.allocUnsafe(fstatSync(descriptor).size);
    let length = 0;
    for (let part = -1; part !== 0 && length < bytes.length; length += part) {
      part = readSync(descriptor, bytes, length, bytes.length - length, length);
    }
    return bytes.subarray(0, length);
  }

  /** Lets the files go. Not while the store is open: closing a file takes away the locks that the process has on it. */
  release(): void {
    for (const descriptor of this.#descriptors.values()) closeSync(descriptor);
    this.#descriptors.clear();
  }

  /** Says that the process might be killed now. */
  look(label: string): void {
    this.looked++;
    const files: Files = { "": this.#read(""), "-wal": this.#read("-wal"), "-shm": this.#read("-shm") };
    const hasChanged = !isSame(files[""], this.#last[""]) || !isSame(files["-wal"], this.#last["-wal"]);
    if (hasChanged) this.#tear(label, files);
    if (hasChanged) this.#lastDigest = `${digest(files[""])} ${digest(files["-wal"])}`;
    // The index of the log is made anew by the first who opens it, so a difference there is none.
    this.#last = hasChanged ? files : { ...this.#last, "-shm": files["-shm"] };
    this.#keep(label, this.#last, this.#lastDigest);
  }

  #keep(label: string, files: Files, filesKey: string): boolean {
    const evidence = structuredClone(this.#evidence());
    const key = `${filesKey} ${JSON.stringify(evidence)}`;
    if (this.#points.has(key)) return false;
    this.#points.set(key, { label, files, evidence });
    return true;
  }

  /**
   * The middle of what was just written to the log: all of it but for the end of the last page. Where only a lease was written it is
   * not tried: that is one row.
   */
  #tear(label: string, files: Files): void {
    if (label.includes("leases")) return;
    const log = files["-wal"];
    const before = this.#last["-wal"] ?? Buffer.alloc(0);
    const hasGrown = log !== undefined && log.length > before.length && isSame(files[""], this.#last[""]);
    if (!hasGrown || !log.subarray(0, before.length).equals(before)) return;
    const cut = log.subarray(0, Math.max(before.length + 1, log.length - 1000));
    const isNew = this.#keep(`in the middle, ${label}`, { ...files, "-wal": cut }, digest(cut));
    if (isNew) this.torn++;
  }
}
