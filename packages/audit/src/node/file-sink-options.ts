import { resolve } from "node:path";
import type { Resolved } from "@harnesskit/wire";
import { checkNumber, defineLimits, InvalidArgumentError, type LimitsOf } from "@harnesskit/wire";
import type { AuditError } from "../audit-error.ts";
import type { AuditHead } from "../audit-head.ts";
import type { AuditEntryInput } from "../entry.ts";
import { entryLimits } from "../limits.ts";
import { createRedactor, type Redactor } from "../redactor.ts";
import type { AuditAction, AuditSink } from "../sink.ts";
import { type AuditFileSystem, nodeFileSystem } from "./file-system.ts";

/**
 * When the disk must make entries durable, so that they outlive a loss of power and not only of the process.
 *
 * - `flush`: on `flush()`, on `close()` and when a file is full.
 * - `block`: after each write.
 * - `never`: the system decides; only when a file is full.
 */
export type AuditSync = "flush" | "block" | "never";

const megabyte = 1024 * 1024;

/** What a log in files may use. */
export const fileLimits = defineLimits({
  ...entryLimits,
  /** Bytes written at once; at least four times `maxEntryBytes`. @default 131072 */
  maxBlockBytes: { default: 128 * 1024, max: 4 * megabyte },
  /** Bytes of one file; at least twice `maxBlockBytes`. @default 67108864 */
  maxFileBytes: 64 * megabyte,
  /** Files kept, the current one included; older ones are removed. @default 16 */
  maxFiles: { default: 16, min: 2, max: 100_000 },
  /** Bytes that wait for the disk; entries beyond are dropped and counted. At least twice `maxBlockBytes`. @default 8388608 */
  maxQueuedBytes: { default: 8 * megabyte, max: 1024 * megabyte },
});
export type FileAuditLimits = LimitsOf<typeof fileLimits>;

export interface FileAuditSinkOptions {
  /** The file. Full ones get numbers behind its name. No other user may be able to write to its directory. */
  readonly path: string;
  readonly limits?: Partial<FileAuditLimits> | undefined;
  /** How long an entry waits for others before they are written together. @default 10 */
  readonly flushIntervalMs?: number | undefined;
  /** How long to wait after a write that failed. @default 1000 */
  readonly retryIntervalMs?: number | undefined;
  /** @default "flush" */
  readonly sync?: AuditSync | undefined;
  /** Takes the secrets out; may be shared with other logs. @default createRedactor() */
  readonly redactor?: Redactor | undefined;
  /** Milliseconds since 1970. @default Date.now */
  readonly clock?: (() => number) | undefined;
  /** Receives writes that failed and entries that are dropped. What it throws is ignored. */
  readonly onError?: ((error: AuditError) => void) | undefined;
  /** The file system. @default node:fs/promises */
  readonly fileSystem?: AuditFileSystem | undefined;
}

/** An audit log in files. */
export interface FileAuditSink extends AuditSink {
  /** What is written so far: keep it elsewhere now and then, and verify the log against it. */
  readonly head: AuditHead;
  /** Entries that were never written: beyond `maxQueuedBytes`, after `close`, or left when it failed. */
  readonly dropped: number;
  begin(entry: AuditEntryInput): AuditAction;
}

/** The options with their defaults. */
export type SinkSettings = Resolved<FileAuditSinkOptions> & { readonly limits: FileAuditLimits };

const syncs: readonly string[] = ["flush", "block", "never"];
const dayMs = 24 * 60 * 60 * 1000;

/** Limits whose defaults and minima follow from others. */
const resolveLimits = (given: Partial<FileAuditLimits> = {}): FileAuditLimits => {
  const limits = fileLimits.resolve(given);
  const minBlockBytes = 4 * limits.maxEntryBytes;
  const maxBlockBytes = given.maxBlockBytes ?? Math.max(limits.maxBlockBytes, minBlockBytes);
  const min = 2 * maxBlockBytes;
  const maxQueuedBytes = given.maxQueuedBytes ?? Math.max(limits.maxQueuedBytes, min);
  checkNumber("limits.maxBlockBytes", maxBlockBytes, { min: minBlockBytes, max: 4 * megabyte });
  checkNumber("limits.maxFileBytes", limits.maxFileBytes, { min });
  checkNumber("limits.maxQueuedBytes", maxQueuedBytes, { min, max: 1024 * megabyte });
  return { ...limits, maxBlockBytes, maxQueuedBytes };
};

/** Throws `invalid_argument`. */
export const toSettings = (options: FileAuditSinkOptions): SinkSettings => {
  const { path, sync = "flush", flushIntervalMs = 10, retryIntervalMs = 1000 } = options;
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw new InvalidArgumentError("path must be a path in the file system: not empty, without NUL");
  }
  if (!syncs.includes(sync)) throw new InvalidArgumentError(`sync must be one of ${syncs.join(", ")}`);
  return {
    path: resolve(path),
    limits: resolveLimits(options.limits),
    flushIntervalMs: checkNumber("flushIntervalMs", flushIntervalMs, { min: 0, max: dayMs }),
    retryIntervalMs: checkNumber("retryIntervalMs", retryIntervalMs, { max: dayMs }),
    sync,
    redactor: options.redactor ?? createRedactor(),
    clock: options.clock ?? Date.now,
    onError: options.onError ?? (() => {}),
    fileSystem: options.fileSystem ?? nodeFileSystem,
  };
};
