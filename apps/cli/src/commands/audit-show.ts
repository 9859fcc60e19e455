import { type AuditFilter, readAuditFile } from "@harnesskit/audit/node";
import { CliError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";
import { oneLine } from "../terminal/one-line.ts";
import { safeJson } from "../terminal/safe-json.ts";
import { createTerminal } from "../terminal/terminal.ts";

export interface AuditShowOptions {
  readonly action?: string;
  readonly agentId?: string;
  readonly call?: string;
  readonly correlation?: string;
  readonly after?: number;
  readonly limit?: number;
  readonly json?: true;
}

type Entry = ReturnType<typeof readAuditFile> extends AsyncGenerator<infer E> ? E : never;

const toFilter = (options: AuditShowOptions): AuditFilter => ({
  ...(options.action !== undefined && { action: options.action }),
  ...(options.agentId !== undefined && { agent_id: options.agentId }),
  ...(options.call !== undefined && { call_id: options.call }),
  ...(options.correlation !== undefined && { correlation_id: options.correlation }),
  ...(options.after !== undefined && { afterSeq: options.after }),
  ...(options.limit !== undefined && { limit: options.limit }),
});

/** `harness audit show`: the entries of a log, the oldest first. Does not verify it. */
export const showAudit = async (file: string, options: AuditShowOptions): Promise<ExitCode> => {
  const terminal = createTerminal();
  const err = createTerminal(process.stderr);
  let invalid = 0;
  const onInvalidLine = (where: string, line: number) => {
    if (invalid++ < 10) err.write(`harness audit: ${oneLine(where, 1000)}:${line} is no entry\n`);
  };
  try {
    for await (const entry of readAuditFile(file, { ...toFilter(options), onInvalidLine })) {
      terminal.write(options.json ? `${safeJson(entry)}\n` : `${entryLine(entry)}\n`);
      await terminal.ready();
    }
  } catch (cause) {
    throw new CliError("audit_unreadable", `${oneLine(file, 1000)} cannot be read`, {
      cause,
      exitCode: ExitCode.unavailable,
      hint: "Logs of harness serve are in $XDG_STATE_HOME/harnesskit/audit, or ~/.local/state/harnesskit/audit.",
    });
  }
  if (invalid > 0)
    err.write(`harness audit: ${invalid} lines are no entries; harness audit verify says more\n`);
  return invalid > 0 ? ExitCode.failed : ExitCode.done;
};

const shownDetails = ({ details = {} }: Entry): string[] =>
  Object.entries(details).map(([key, value]) => `${key}=${String(value)}`);

const entryLine = (entry: Entry): string => {
  const { seq, time, action, outcome, duration_ms: took } = entry;
  const facts = [
    entry.tool_id,
    entry.tool_id?.startsWith(`${entry.agent_id}/`) ? undefined : entry.agent_id,
    entry.call_id,
    took === undefined ? undefined : `${Math.round(took)} ms`,
    ...shownDetails(entry),
  ].filter((fact) => fact !== undefined);
  return `${seq}  ${time}  ${oneLine(action, 100)}  ${outcome ?? "-"}  ${oneLine(facts.join(" "), 500)}`;
};
