import { join } from "node:path";
import type { FileAuditSink } from "@harnesskit/audit/node";
import { HarnessError } from "@harnesskit/wire";
import { type CliError, isDebugging, logFailure, unavailableError, usageError } from "../cli-error.ts";
import { fromHere } from "../io.ts";
import { harnessDirectory, stateDirectory } from "../workspace-directory.ts";

const maxLogs = 64;
const defaultLimits = { maxFileBytes: 16 * 1024 * 1024, maxFiles: 4 };

export interface AuditLog {
  readonly path: string;
  readonly sink: FileAuditSink;
}

const openAuditLog = async (path: string, limits: object = defaultLimits): Promise<AuditLog> => {
  const { openFileAuditSink } = await import("@harnesskit/audit/node");
  let hasFailed = false;
  const sink = await openFileAuditSink({
    path,
    limits,
    onError: (error) => {
      if (hasFailed && !isDebugging()) return;
      hasFailed = true;
      logFailure("harness: the audit log", error);
    },
  });
  return { path, sink };
};

const unavailable = (place: string, cause: unknown): CliError => {
  const why = cause instanceof Error ? cause.message : "unknown";
  return unavailableError("audit_unavailable", `the audit log ${place} cannot be used: ${why}`, {
    cause,
    hint: "Name another file: --audit FILE",
  });
};

/** Opens the log that the user named. Rejects with a `CliError` `audit_unavailable`. */
export const openNamedAuditLog = (file: string, limits?: object): Promise<AuditLog> =>
  openAuditLog(fromHere(file), limits).catch((cause: unknown) => {
    throw unavailable(file, cause);
  });

/** Opens the first of `NAME.jsonl`, `NAME-2.jsonl` and so on that is whole and that no other server writes. Rejects if there is none. */
const openFreeLog = async (directory: string, name: string): Promise<AuditLog> => {
  for (let number = 1; ; number++) {
    try {
      return await openAuditLog(join(directory, number === 1 ? `${name}.jsonl` : `${name}-${number}.jsonl`));
    } catch (error) {
      const code = HarnessError.isInstance(error) ? error.code : undefined;
      if (number >= maxLogs || (code !== "audit_locked" && code !== "audit_damaged")) throw error;
      // Left as it is: what it holds is evidence.
      if (code === "audit_damaged") logFailure("harness: going on in another audit log", error);
    }
  }
};

/** The log of the policy that judges in a workspace. */
export const openWorkspaceLog = (workspace: string): Promise<AuditLog> =>
  openFreeLog(join(harnessDirectory(workspace), "audit"), "policy");

/** The log of a command without `--audit`. Without one it continues: its conversations have the tool calls, too. */
export const openDefaultAuditLog = async (command: string): Promise<FileAuditSink | undefined> => {
  try {
    return (await openFreeLog(stateDirectory("audit"), command)).sink;
  } catch (error) {
    logFailure(`harness ${command}: going on without an audit log`, error);
    return undefined;
  }
};

/** The log of `harness core`: the file that the user named, none for `--no-audit`, else one of the user's state directory. */
export const openCoreAuditLog = async (
  audit: string | false | undefined,
): Promise<FileAuditSink | undefined> => {
  if (audit === false) return undefined;
  return audit === undefined ? openDefaultAuditLog("core") : (await openNamedAuditLog(audit)).sink;
};

export interface HarnessLogOptions {
  readonly audit?: string;
  readonly recordContent?: true;
}

/** Throws a usage error for `--record-content` without a file that the user chose. */
export const checkHarnessLog = ({ audit, recordContent }: HarnessLogOptions): void => {
  if (!recordContent || audit !== undefined) return;
  throw usageError(
    "--record-content needs a file of your choice: --audit FILE",
    "It will hold what agents do, word for word but for what looks like a secret",
  );
};

/**
 * The log of `harness ahp serve`, in the file that was named or in the user's state directory. Decisions are recorded nowhere
 * else, so that there is no harness without a log. Rejects with a `CliError` `audit_unavailable`.
 */
export const openHarnessLog = async ({ audit, recordContent }: HarnessLogOptions): Promise<AuditLog> => {
  if (audit === undefined) {
    return openFreeLog(stateDirectory("audit"), "ahp").catch((cause: unknown) => {
      throw unavailable(stateDirectory("audit"), cause);
    });
  }
  if (!recordContent) return openNamedAuditLog(audit);
  return openNamedAuditLog(audit, (await import("./content-audit.ts")).contentAuditLimits);
};
