import { constants } from "node:fs/promises";
import type { JournalFileSystem } from "../packages/node-kit/src/index.ts";
import { type DiskImage, type DiskOp, ModelDisk } from "./model-disk.ts";
import { nextTurn } from "./test-kit.ts";

/** One call, numbered by its place in the journal, and what it did to the disk. */
export interface Step {
  readonly call: string;
  readonly ops: readonly DiskOp[];
}

/** What happens instead of a step. */
export type Fault =
  /** It fails, after half of what it would have done when `half` is set. */
  | { readonly fault: "fail"; readonly code: "ENOSPC" | "EIO"; readonly half?: boolean }
  /** The process is gone: neither this call nor any later one ever returns. */
  | { readonly fault: "crash"; readonly half?: boolean };

export interface ModelFileSystemOptions {
  /** What is on the disk at the beginning. @default nothing */
  readonly image?: DiskImage;
  /** @default no fault */
  readonly plan?: (step: number, call: string) => Fault | undefined;
  /** The most that one write takes; it then says how much it took, as a full pipe or disk does. @default no limit */
  readonly maxWriteBytes?: number;
}

const systemError = (code: string, call: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: ${call}`), { code });

/** What a call would do to the disk, and gives. */
type Work<T> = () => { ops?: DiskOp[]; value: T };

const never = <T>(): Promise<T> => new Promise<T>(() => {});

/** The half of a write, and every second part of what has several. */
const halfOf = (ops: readonly DiskOp[]): DiskOp[] => {
  const [first] = ops;
  if (ops.length === 1 && first?.op === "write") {
    return [{ ...first, bytes: first.bytes.subarray(0, first.bytes.length >> 1) }];
  }
  return ops.slice(0, ops.length >> 1);
};

/** A file system in memory that keeps a journal of all that is done, and fails or ends where it is told to. */
export class ModelFileSystem {
  readonly disk: ModelDisk;
  readonly journal: Step[] = [];
  readonly image: DiskImage;
  plan: NonNullable<ModelFileSystemOptions["plan"]>;
  readonly #maxWriteBytes: number;
  readonly #madeAt = new Map<number, number>();
  #crashed = false;

  constructor({ image = new Map(), plan = () => undefined, maxWriteBytes }: ModelFileSystemOptions = {}) {
    this.image = image;
    this.plan = plan;
    this.disk = new ModelDisk(image);
    this.#maxWriteBytes = maxWriteBytes ?? Number.POSITIVE_INFINITY;
  }

  get hasCrashed(): boolean {
    return this.#crashed;
  }

  /** The part that journals, locks and stores use. */
  get calls(): JournalFileSystem &
    Pick<typeof import("node:fs/promises"), "readdir" | "lstat"> & { utimesSync(): void } {
    const calls = {
      mkdir: (path: string, { recursive = false }: { recursive?: boolean } = {}) =>
        this.#mkdir(path, recursive),
      readdir: (path: string) =>
        this.#step("readdir", () => ({ value: this.disk.names(this.#directory(path)) })),
      open: (path: string, flags: string | number) => this.#open(path, flags),
      rename: (from: string, to: string) => this.#step("rename", this.#renaming(from, to)),
      link: (from: string, to: string) =>
        this.#step("link", () => {
          const node = this.#file(from);
          if (this.disk.find(to) !== undefined) throw systemError("EEXIST", "link");
          return { ops: [{ op: "link", ...this.#place(to), node }], value: undefined };
        }),
      rm: (path: string, options: { force?: boolean; recursive?: boolean } = {}) => this.#rm(path, options),
      lstat: async (path: string) => (this.#crashed ? never() : this.#lstat(path)),
      lstatSync: (path: string) => this.#lstat(path),
      openSync: (path: string, flags: number) => {
        const isNew = (flags & constants.O_EXCL) !== 0;
        return this.#stepSync("open to write", this.#opening(path, { isNew, mayMake: true }));
      },
      closeSync: () => this.#stepSync("close", () => ({ value: undefined })),
      fstatSync: (file: number) => this.#statOf(file),
      fchmodSync: () => {},
      utimesSync: () => {},
      readSync: (file: number, buffer: Uint8Array, offset: number, length: number, position: number) => {
        const bytes = this.disk.content(file).subarray(position, position + length);
        buffer.set(bytes, offset);
        return bytes.length;
      },
      writeSync: (file: number, buffer: Uint8Array, offset: number, length: number) => {
        const bytes = this.#taken(buffer, offset, length);
        const at = this.disk.content(file).length;
        return this.#stepSync("write", () => ({
          ops: [{ op: "write", file, at, bytes }],
          value: bytes.length,
        }));
      },
      ftruncateSync: (file: number, size: number) =>
        this.#stepSync("truncate", () => ({ ops: [{ op: "truncate", file, size }], value: undefined })),
      fsyncSync: (file: number) =>
        this.#stepSync("sync", () => ({ ops: [{ op: "sync", node: file }], value: undefined })),
      renameSync: (from: string, to: string) => this.#stepSync("rename", this.#renaming(from, to)),
      flush: (file: number) =>
        this.#step("datasync", () => ({ ops: [{ op: "sync", node: file }], value: undefined })),
    };
    return calls as unknown as ModelFileSystem["calls"];
  }

  /** Copied: the caller may use its buffer again. */
  #taken(buffer: Uint8Array, offset: number, length: number): Uint8Array {
    return Uint8Array.prototype.slice.call(buffer, offset, offset + Math.min(length, this.#maxWriteBytes));
  }

  #renaming(from: string, to: string): Work<void> {
    return () => {
      this.#existing(from);
      const [source, target] = [this.#place(from), this.#place(to)];
      const ops: DiskOp[] = [{ op: "rename", ...source, toDirectory: target.directory, toName: target.name }];
      return { ops, value: undefined };
    };
  }

  #opening(
    path: string,
    { isNew, mayMake }: { readonly isNew: boolean; readonly mayMake: boolean },
  ): Work<number> {
    return () => {
      const existing = this.disk.find(path);
      if (existing !== undefined) {
        if (isNew) throw systemError("EEXIST", "open");
        return { value: existing };
      }
      if (!mayMake) throw systemError("ENOENT", "open");
      const value = this.disk.nextNode;
      return { ops: [{ op: "create", ...this.#place(path), kind: "file" }], value };
    };
  }

  /** A file is as old as it is known; of a directory nothing is known. */
  #changedMs(node: number): number {
    if (this.disk.isDirectory(node)) return this.journal.length;
    const known = this.#madeAt.get(node) ?? Date.now();
    this.#madeAt.set(node, known);
    return known;
  }

  #statOf(node: number) {
    const isDirectory = this.disk.isDirectory(node);
    return {
      ...{
        dev: 1,
        ino: node,
        nlink: 1,
        mode: 0o600,
        uid: process.geteuid?.() ?? 0,
        mtimeMs: this.#changedMs(node),
      },
      size: isDirectory ? 0 : this.disk.content(node).length,
      isFile: () => !isDirectory,
      isDirectory: () => isDirectory,
      isSymbolicLink: () => false,
    };
  }

  /** One call: looks at the disk, says what it would do, and does it unless the plan has a fault for it. */
  async #step<T>(call: string, work: Work<T>): Promise<T> {
    await nextTurn();
    if (this.#crashed) return never();
    try {
      return this.#stepSync(call, work);
    } catch (error) {
      return this.#crashed ? never() : Promise.reject(error);
    }
  }

  /** The same at once. A process that is gone makes no more of them: they throw, and what its clients see then does not count. */
  #stepSync<T>(call: string, work: Work<T>): T {
    if (this.#crashed) throw systemError("EIO", call);
    const fault = this.plan(this.journal.length, call);
    if (fault?.fault === "crash") this.#crashed = true;
    if (fault && !fault.half) {
      this.journal.push({ call, ops: [] });
      throw systemError(fault.fault === "crash" ? "EIO" : fault.code, call);
    }
    let outcome: ReturnType<typeof work>;
    try {
      outcome = work();
    } catch (error) {
      this.journal.push({ call, ops: [] });
      throw error;
    }
    const { ops = [], value } = outcome;
    const done = fault ? halfOf(ops) : ops;
    this.journal.push({ call, ops: done });
    for (const op of done) this.disk.apply(op);
    if (fault) throw systemError(fault.fault === "crash" ? "EIO" : fault.code, call);
    return value;
  }

  #lstat(path: string) {
    const node = this.disk.find(path);
    if (node === undefined) throw systemError("ENOENT", "lstat");
    return this.#statOf(node);
  }

  #mkdir(path: string, recursive: boolean): Promise<string | undefined> {
    return this.#step("mkdir", () => {
      const existing = this.disk.find(path);
      if (existing !== undefined) {
        if (recursive && this.disk.isDirectory(existing)) return { value: undefined };
        throw systemError("EEXIST", "mkdir");
      }
      if (!recursive)
        return { ops: [{ op: "create", ...this.#place(path), kind: "directory" }], value: undefined };
      const parts = path.split("/").filter(Boolean);
      let depth = parts.length;
      while (depth > 0 && this.disk.find(parts.slice(0, depth).join("/")) === undefined) depth--;
      let parent = this.disk.find(parts.slice(0, depth).join("/")) ?? ModelDisk.rootNode;
      const ops: DiskOp[] = [];
      for (const name of parts.slice(depth)) {
        ops.push({ op: "create", directory: parent, name, kind: "directory" });
        parent = this.disk.nextNode + ops.length - 1;
      }
      return { ops, value: `/${parts.slice(0, depth + 1).join("/")}` };
    });
  }

  #rm(
    path: string,
    { force = false, recursive = false }: { force?: boolean; recursive?: boolean },
  ): Promise<void> {
    return this.#step("rm", () => {
      const node = this.disk.find(path);
      if (node === undefined) {
        if (force) return { value: undefined };
        throw systemError("ENOENT", "rm");
      }
      if (this.disk.isDirectory(node) && !recursive) throw systemError("ERR_FS_EISDIR", "rm");
      const ops: DiskOp[] = [];
      const remove = (id: number, directory: number, name: string) => {
        if (this.disk.isDirectory(id)) {
          for (const child of this.disk.names(id)) remove(this.disk.child(id, child), id, child);
        }
        ops.push({ op: "unlink", directory, name });
      };
      const { directory, name } = this.#place(path);
      remove(node, directory, name);
      return { ops, value: undefined };
    });
  }

  async #open(path: string, flags: string | number): Promise<unknown> {
    const isNew = flags === "wx";
    const mayMake = isNew || (typeof flags === "number" && (flags & constants.O_CREAT) !== 0);
    const node = await this.#step(
      mayMake ? "open to write" : "open",
      this.#opening(path, { isNew, mayMake }),
    );
    return this.#handle(node);
  }

  #handle(node: number): unknown {
    /** Without a position at the end of the file, as with `O_APPEND`. */
    const write = (call: string, bytes: Uint8Array, position: number | null) =>
      this.#step(call, () => {
        const at = position ?? this.disk.content(node).length;
        return { ops: [{ op: "write", file: node, at, bytes }], value: bytes.length };
      });
    const sync = (call: string) =>
      this.#step(call, () => ({ ops: [{ op: "sync", node }], value: undefined }));
    return {
      write: async (buffer: Uint8Array, offset: number, length: number, position: number | null) => {
        const bytes = this.#taken(buffer, offset, length);
        return { bytesWritten: await write("write", bytes, position), buffer };
      },
      writeFile: async (text: string) => {
        await write("writeFile", Buffer.from(text, "utf8"), 0);
      },
      read: (buffer: Uint8Array, offset: number, length: number, position: number) =>
        this.#step("read", () => {
          const bytes = this.disk.content(node).subarray(position, position + length);
          buffer.set(bytes, offset);
          return { value: { bytesRead: bytes.length, buffer } };
        }),
      stat: () => this.#step("stat", () => ({ value: this.#statOf(node) })),
      truncate: (size: number) =>
        this.#step("truncate", () => ({ ops: [{ op: "truncate", file: node, size }], value: undefined })),
      datasync: () => sync("datasync"),
      sync: () => sync("sync"),
      close: () => this.#step("close", () => ({ value: undefined })),
    };
  }

  #existing(path: string): number {
    const node = this.disk.find(path);
    if (node === undefined) throw systemError("ENOENT", path);
    return node;
  }

  #file(path: string): number {
    const node = this.#existing(path);
    if (this.disk.isDirectory(node)) throw systemError("EISDIR", path);
    return node;
  }

  #directory(path: string): number {
    const node = this.#existing(path);
    if (!this.disk.isDirectory(node)) throw systemError("ENOTDIR", path);
    return node;
  }

  /** Where a name is or would be. */
  #place(path: string): { directory: number; name: string } {
    const parts = path.split("/").filter(Boolean);
    const name = parts.pop() ?? "";
    return { directory: this.#directory(parts.join("/")), name };
  }
}
