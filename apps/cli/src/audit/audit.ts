import { formatHead, parseHead } from "@harnesskit/audit";
import { readAuditFile, verifyAuditFile } from "@harnesskit/audit/node";
import { shellWord } from "@harnesskit/wire";
import { ExitCode, sayError, toCliError, unavailableError, usageError } from "../cli-error.ts";
import { fromHere, io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";
import { stateDirectory } from "../workspace-directory.ts";

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
      "--expect is not the head of a log",
      "A head is a number, a colon and 64 hexadecimal digits.",
    );
  }
};

const unreadable = (file: string, cause: unknown): Error =>
  unavailableError("audit_unreadable", `${file}: ${toCliError(cause).message}`, {
    cause,
    hint: `Your logs are in ${stateDirectory("audit")}, and in .harness/audit of where you worked`,
  });

/** `harness audit verify`: whether a log is as it was written; names the first wrong line. Returns the exit code. */
export const verifyAudit = async (file: string, options: AuditVerifyOptions): Promise<ExitCode> => {
  const { open, json } = options;
  const wanted = { ...expectedHead(options.expect), allowOpenEnd: open === true };
  const found = await verifyAuditFile(fromHere(file), wanted).catch((cause: unknown) => {
    throw unreadable(file, cause);
  });
  const terminal = createTerminal();
  if (json) {
    const shown = found.ok ? { ...found, head: formatHead(found.head) } : found;
    terminal.json({ file, ...shown });
  } else if (found.ok) {
    const from = found.start.seq === 0 ? "" : `, the first of them number ${found.start.seq + 1}`;
    terminal.say(`${file} is intact: ${found.entries} entries${from}`);
    terminal.say(`  head: ${formatHead(found.head)}`);
    if (!found.closed && !open) {
      terminal.say(
        "  its writer did not close it: it runs, was killed, or the end was cut off (--expect tells)",
      );
    }
  } else {
    const { kind, line, file: where, message } = found.problem;
    terminal.say(`${where}:${line}: ${kind}: ${message}`);
  }
  return found.ok ? ExitCode.done : ExitCode.failed;
};

/** Some lines of a log are not entries. */
export const sayInvalidLines = (file: string, invalid: number): void =>
  sayError(`lines that are not entries: ${invalid}`, {
    to: "For details",
    run: `harness audit verify ${shellWord(file)}`,
  });

type Entry = ReturnType<typeof readAuditFile> extends AsyncGenerator<infer E> ? E : never;

/** `harness audit show`: show the entries of a log, oldest first. Does not verify it. */
export const showAudit = async (file: string, { json }: { readonly json?: true }): Promise<ExitCode> => {
  const terminal = createTerminal();
  const err = createTerminal(io().stderr);
  let invalid = 0;
  const onInvalidLine = (where: string, line: number) => {
    if (invalid++ < 10) err.say(`harness audit: ${where}:${line} is not an entry`);
  };
  try {
    for await (const entry of readAuditFile(fromHere(file), { onInvalidLine })) {
      if (json) terminal.json(entry);
      else terminal.say(entryLine(entry), "    ");
      await terminal.ready();
    }
  } catch (cause) {
    throw unreadable(file, cause);
  }
  if (invalid === 0) return ExitCode.done;
  sayInvalidLines(file, invalid);
  return ExitCode.failed;
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
  return `${seq}  ${time}  ${oneLine(action, 100)}  ${outcome ?? "-"}  ${facts.join(" ")}`;
};
