import { join } from "node:path";
import { temporaryDirectory } from "../../../../scripts/lib/test-kit.ts";
import type { AuditEntry } from "../../src/index.ts";
import { type FileAuditSinkOptions, openFileAuditSink, readAuditFile } from "../../src/node/index.ts";

/** A log that writes only for what a test does, and its own entries left out. Each look at its clock is a millisecond. */
export const stillLog = async (options: Partial<FileAuditSinkOptions> = {}) => {
  const directory = await temporaryDirectory();
  const path = join(directory.path, "log.jsonl");
  let now = 1_700_000_000_000;
  const sink = await openFileAuditSink({
    path,
    // Longer than any of these tests: only what they do makes the log write.
    flushIntervalMs: 60_000,
    clock: () => now++,
    ...options,
  });
  const entries = async (): Promise<AuditEntry[]> => {
    const all = [];
    for await (const entry of readAuditFile(path)) if (!entry.action.startsWith("audit.")) all.push(entry);
    return all;
  };
  return { sink, path, entries, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
};
