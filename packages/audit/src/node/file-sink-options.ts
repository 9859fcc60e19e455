import { resolve } from "node:path";
import { AuditError } from "../audit-error.ts";
import { type AuditLimits, type SetLimits, toLimits, wholeNumber } from "../limits.ts";
import { createRedactor, type Redactor } from "../redactor.ts";
import { type AuditFileSystem, nodeFileSystem } from "./file-system.ts";

/**
 * When the disk is asked to make entries durable, so that they outlive a loss of power and not only of the process.
 *
 * - `flush`: on `flush()`, on `close()` and when a file is full.
 * - `block`: after each write.
 * - `never`: the system decides; only when a file is full.
 */
export type AuditSync = "flush" | "block" | "never";

export interface FileAuditSinkOptions extends AuditLimits {
  /** The file. Full ones get numbers behind its name. Nobody else may be able to write to its directory. */
  readonly path: string;
  /** Bytes of one file; at least twice `maxBlockBytes`. @default 67108864 */
  readonly maxFileBytes?: number;
  /** Files kept, the current one included; older ones are removed. @default 16 */
  readonly maxFiles?: number;
  /** How long an entry waits for others before they are written together. @default 10 */
  readonly flushIntervalMs?: number;
  /** Bytes written at once; at least four times `maxEntryBytes`. @default 131072 */
  readonly maxBlockBytes?: number;
  /** Bytes that wait for the disk; entries beyond are dropped and counted. At least twice `maxBlockBytes`. @default 8388608 */
  readonly maxQueuedBytes?: number;
  /** How long to wait after a write that failed. @default 1000 */
  readonly retryIntervalMs?: number;
  /** @default "flush" */
  readonly sync?: AuditSync;
  /** Takes the secrets out; may be shared with other logs. @default createRedactor() */
  readonly redactor?: Redactor;
  /** Milliseconds since 1970. @default Date.now */
  readonly clock?: () => number;
  /** Told of writes that failed and of entries that are dropped. What it throws is ignored. @default nobody */
  readonly onError?: (error: AuditError) => void;
  /** The file system. @default node:fs/promises */
  readonly fileSystem?: AuditFileSystem;
}

/** The options with their defaults. */
export interface SinkSettings extends Omit<Required<FileAuditSinkOptions>, keyof AuditLimits> {
  readonly limits: SetLimits;
}

const megabyte = 1024 * 1024;
const syncs: readonly string[] = ["flush", "block", "never"];

/** Throws `audit_invalid_options`. */
export const toSettings = (options: FileAuditSinkOptions): SinkSettings => {
  const { path, sync = "flush" } = options;
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw new AuditError(
      "audit_invalid_options",
      "path is a path in the file system: not empty, without NUL",
    );
  }
  if (!syncs.includes(sync)) {
    throw new AuditError("audit_invalid_options", `sync is one of ${syncs.join(", ")}`);
  }
  const limits = toLimits(options);
  const smallestBlock = 4 * limits.maxEntryBytes;
  const maxBlockBytes = wholeNumber(
    "maxBlockBytes",
    options.maxBlockBytes ?? Math.max(128 * 1024, smallestBlock),
    smallestBlock,
    4 * megabyte,
  );
  const huge = Number.MAX_SAFE_INTEGER;
  const day = 24 * 60 * 60 * 1000;
  return {
    path: resolve(path),
    maxFileBytes: wholeNumber("maxFileBytes", options.maxFileBytes ?? 64 * megabyte, 2 * maxBlockBytes, huge),
    maxFiles: wholeNumber("maxFiles", options.maxFiles ?? 16, 2, 100_000),
    flushIntervalMs: wholeNumber("flushIntervalMs", options.flushIntervalMs ?? 10, 0, day),
    maxBlockBytes,
    maxQueuedBytes: wholeNumber(
      "maxQueuedBytes",
      options.maxQueuedBytes ?? Math.max(8 * megabyte, 2 * maxBlockBytes),
      2 * maxBlockBytes,
      1024 * megabyte,
    ),
    retryIntervalMs: wholeNumber("retryIntervalMs", options.retryIntervalMs ?? 1000, 1, day),
    sync,
    redactor: options.redactor ?? createRedactor(),
    clock: options.clock ?? Date.now,
    onError: options.onError ?? (() => {}),
    fileSystem: options.fileSystem ?? nodeFileSystem,
    limits,
  };
};
