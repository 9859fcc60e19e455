import * as fs from "node:fs/promises";
import type { AuditFileSystem } from "../../src/node/index.ts";

/** The real file system, with a disk that fails on demand. */
export interface FaultyDisk {
  readonly fileSystem: AuditFileSystem;
  /** Bytes that still fit; a write that is larger is done in part and then fails. */
  freeBytes: number;
  /** Calls that fail, with the system's name for it. */
  readonly failures: Map<"write" | "truncate" | "datasync" | "rename" | "open", string>;
  readonly calls: { write: number; datasync: number };
}

const systemError = (code: string): Error => Object.assign(new RangeError(code), { code });

export const faultyDisk = (): FaultyDisk => {
  const disk: FaultyDisk = {
    fileSystem: {
      ...fs,
      async open(path, flags, mode) {
        const code = disk.failures.get("open");
        if (code !== undefined) throw systemError(code);
        return wrap(await fs.open(path, flags, mode));
      },
      async rename(from, to) {
        const code = disk.failures.get("rename");
        if (code !== undefined) throw systemError(code);
        await fs.rename(from, to);
      },
    },
    freeBytes: Number.POSITIVE_INFINITY,
    failures: new Map(),
    calls: { write: 0, datasync: 0 },
  };
  const failing = <K extends "truncate" | "datasync">(file: fs.FileHandle, name: K) => {
    const original = file[name].bind(file) as (...rest: unknown[]) => Promise<void>;
    return async (...rest: unknown[]) => {
      if (name === "datasync") disk.calls.datasync++;
      const code = disk.failures.get(name);
      if (code !== undefined) throw systemError(code);
      await original(...rest);
    };
  };
  const wrap = (file: fs.FileHandle): fs.FileHandle => {
    const write = file.write.bind(file) as unknown as (
      bytes: Uint8Array,
      offset: number,
      length: number,
      position: null,
    ) => Promise<{ bytesWritten: number; buffer: Uint8Array }>;
    const faulty = async (bytes: Uint8Array, offset: number, length: number, position: null) => {
      disk.calls.write++;
      const code = disk.failures.get("write");
      if (code !== undefined) throw systemError(code);
      if (disk.freeBytes <= 0) throw systemError("ENOSPC");
      const result = await write(bytes, offset, Math.min(length, disk.freeBytes), position);
      disk.freeBytes -= result.bytesWritten;
      return result;
    };
    return Object.assign(file, {
      write: faulty,
      truncate: failing(file, "truncate"),
      datasync: failing(file, "datasync"),
    });
  };
  return disk;
};
