import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { FileAuditSink } from "@harnesskit/audit/node";
import { CliError } from "../cli-error.ts";
import { isDebugging, logFailure } from "../debug.ts";
import { ExitCode } from "../exit-code.ts";
import { oneLine } from "../terminal/one-line.ts";

/** Servers of one user that can write a log of their own at the same time. */
const maxLogs = 64;
const maxFileBytes = 16 * 1024 * 1024;
const maxFiles = 4;

/** Where the logs of this user's servers lie: outside of every workspace, because nothing in one is to be trusted. */
const auditDirectory = (env: NodeJS.ProcessEnv = process.env): string => {
  const { XDG_STATE_HOME: state = "" } = env;
  return join(isAbsolute(state) ? state : join(homedir(), ".local", "state"), "harnesskit", "audit");
};

const open = async (path: string): Promise<FileAuditSink> => {
  const { createFileAuditSink } = await import("@harnesskit/audit/node");
  let isTold = false;
  return createFileAuditSink({
    path,
    maxFileBytes,
    maxFiles,
    onError: (error) => {
      if (isTold && !isDebugging()) return;
      isTold = true;
      logFailure("harness: the audit log", error);
    },
  });
};

const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "code" in error ? error.code : undefined;

const unavailable = (place: string, cause: unknown): CliError => {
  const why = cause instanceof Error ? oneLine(cause.message, 300) : "unknown";
  return new CliError("audit_unavailable", `the audit log ${oneLine(place)} cannot be used: ${why}`, {
    cause,
    exitCode: ExitCode.unavailable,
    hint: "Name another file: --audit FILE",
  });
};

/** The log that the user asked for. Rejects with a `CliError` `audit_unavailable`. */
export const openNamedAuditLog = async (file: string): Promise<FileAuditSink> => {
  try {
    return await open(resolve(file));
  } catch (cause) {
    throw unavailable(file, cause);
  }
};

/**
 * The first log of {@link auditDirectory} that no other server writes: `NAME.jsonl`, `NAME-2.jsonl` and so on. Rejects
 * where there is none.
 */
const openFreeLog = async (
  name: string,
): Promise<{ readonly path: string; readonly sink: FileAuditSink }> => {
  const directory = auditDirectory();
  for (let number = 1; ; number++) {
    const path = join(directory, number === 1 ? `${name}.jsonl` : `${name}-${number}.jsonl`);
    try {
      return { path, sink: await open(path) };
    } catch (error) {
      if (codeOf(error) !== "audit_locked" || number >= maxLogs) throw error;
    }
  }
};

/**
 * The log of a `harness serve` that nobody named one for. Where it cannot be had, that is said on stderr and the server
 * goes on without: what tools do is in the threads' logs as well.
 */
export const openDefaultAuditLog = async (): Promise<FileAuditSink | undefined> => {
  try {
    return (await openFreeLog("serve")).sink;
  } catch (error) {
    logFailure("harness serve: going on without an audit log", error);
    return undefined;
  }
};

/**
 * The log of a harness, in the file that is named or in the user's state directory. What agents were told is recorded
 * nowhere else, so that without a log there is no harness. Rejects with a `CliError` `audit_unavailable`.
 */
export const openHarnessAuditLog = async (
  file: string | undefined,
): Promise<{ readonly path: string; readonly sink: FileAuditSink }> => {
  if (file !== undefined) return { path: resolve(file), sink: await openNamedAuditLog(file) };
  try {
    return await openFreeLog("ahp");
  } catch (cause) {
    throw unavailable(auditDirectory(), cause);
  }
};
