import { resolve } from "node:path";
import type { FileAuditSink } from "@harnesskit/audit/node";
import { CliError, usageError } from "../cli-error.ts";
import { logFailure } from "../debug.ts";
import { ExitCode } from "../exit-code.ts";
import { openHarnessAuditLog } from "../serve/audit-log.ts";
import { oneLine } from "../terminal/one-line.ts";

export interface HarnessLogOptions {
  readonly audit?: string;
  readonly recordContent?: true;
}

/** The audit log of a harness. */
export interface HarnessLog {
  readonly path: string;
  readonly sink: FileAuditSink;
}

/** Content is kept only where the user has said. Throws a usage error. */
export const checkHarnessLog = ({ audit, recordContent }: HarnessLogOptions): void => {
  if (recordContent && audit === undefined) {
    throw usageError(
      "--record-content needs a file of your choice: --audit FILE",
      "It will hold what agents do, word for word but for what looks like a secret",
    );
  }
};

/** Opens the log; one with content takes longer lines. Rejects with a `CliError` `audit_unavailable`. */
export const openHarnessLog = async ({ audit, recordContent }: HarnessLogOptions): Promise<HarnessLog> => {
  if (!recordContent || audit === undefined) return openHarnessAuditLog(audit);
  const path = resolve(audit);
  const { createFileAuditSink } = await import("@harnesskit/audit/node");
  const { contentAuditLimits } = await import("@harnesskit/ahp-server/policy");
  try {
    const onError = (error: unknown) => logFailure("harness: the audit log", error);
    return { path, sink: await createFileAuditSink({ path, ...contentAuditLimits, onError }) };
  } catch (cause) {
    const why = cause instanceof Error ? oneLine(cause.message, 300) : "unknown";
    throw new CliError("audit_unavailable", `the audit log ${oneLine(audit)} cannot be used: ${why}`, {
      cause,
      exitCode: ExitCode.unavailable,
      hint: "Name another file: --audit FILE",
    });
  }
};
