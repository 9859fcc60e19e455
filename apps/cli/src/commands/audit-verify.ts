import { formatHead, parseHead } from "@harnesskit/audit";
import { verifyAuditFile } from "@harnesskit/audit/node";
import { CliError, usageError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";
import { oneLine } from "../terminal/one-line.ts";
import { safeJson } from "../terminal/safe-json.ts";
import { createTerminal } from "../terminal/terminal.ts";

export interface AuditVerifyOptions {
  readonly expect?: string;
  readonly open?: true;
  readonly json?: true;
}

const expectedHead = (text: string | undefined) => {
  if (text === undefined) return {};
  try {
    return { expectedHead: parseHead(text) };
  } catch {
    throw usageError(
      "--expect is no head of a log",
      "A head is a number, a colon and 64 hexadecimal digits.",
    );
  }
};

/** `harness audit verify`: whether a log is as it was written; names the first wrong line. Returns the exit code. */
export const verifyAudit = async (file: string, options: AuditVerifyOptions): Promise<ExitCode> => {
  const { open, json } = options;
  const wanted = { ...expectedHead(options.expect), allowOpenEnd: open === true };
  const found = await verifyAuditFile(file, wanted).catch((cause: unknown) => {
    throw new CliError("audit_unreadable", `${oneLine(file, 1000)} cannot be read`, {
      cause,
      exitCode: ExitCode.unavailable,
      hint: "Logs of harness serve are in $XDG_STATE_HOME/harnesskit/audit, or ~/.local/state/harnesskit/audit.",
    });
  });
  const terminal = createTerminal();
  if (json) {
    const shown = found.ok ? { ...found, head: formatHead(found.head) } : found;
    terminal.write(`${safeJson({ file, ...shown })}\n`);
  } else if (found.ok) {
    const from = found.start.seq === 0 ? "" : `, the first of them number ${found.start.seq + 1}`;
    terminal.write(`${oneLine(file, 1000)} is intact: ${found.entries} entries${from}\n`);
    terminal.write(`  head: ${formatHead(found.head)}\n`);
    if (!found.closed && !open) {
      terminal.write(
        "  its writer did not close it: it runs, was killed, or the end was cut off (--expect tells)\n",
      );
    }
    if (found.unsealed > 0) terminal.write(`  not sealed yet: ${found.unsealed}\n`);
  } else {
    const { kind, line, lastLine, file: where = file, message } = found.problem;
    const range = lastLine === undefined ? `${line}` : `${line}-${lastLine}`;
    terminal.write(`${oneLine(where, 1000)}:${range}: ${kind}: ${oneLine(message, 500)}\n`);
  }
  return found.ok ? ExitCode.done : ExitCode.failed;
};
