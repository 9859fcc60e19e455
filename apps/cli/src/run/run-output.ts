import type { EventBody, TurnResult } from "@harnesskit/thread-client";
import type { ExitCode } from "../exit-code.ts";
import { oneLine } from "../terminal/one-line.ts";
import { safeJson } from "../terminal/safe-json.ts";
import { shellWord } from "../terminal/shell-word.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { logFile } from "../workspace-directory.ts";

/** What is told when a turn has ended. */
export interface RunSummary {
  readonly threadId: string;
  readonly turnId: string;
  readonly workspace: string;
  readonly result: TurnResult;
  readonly exitCode: ExitCode;
  /** Calls that were refused because nobody could be asked. */
  readonly unasked: number;
}

/** Where a run tells what happens: a timeline for people, or lines of JSON. */
export interface RunOutput {
  event(event: EventBody): void;
  summary(summary: RunSummary): void;
}

export const createJsonOutput = (terminal: Terminal): RunOutput => ({
  event({ type, data }) {
    terminal.write(`${safeJson({ type, data })}\n`);
  },
  summary({ threadId, turnId, workspace, result, exitCode }) {
    const { status, turn } = result;
    const log = logFile(workspace, threadId);
    const failure = status === "error" ? { error: result.error, code: result.code } : {};
    const usage = turn.usage === undefined ? {} : { usage: turn.usage };
    const data = { threadId, turnId, status, log, exitCode, ...usage, ...failure };
    terminal.write(`${safeJson({ type: "result", data })}\n`);
  },
});

export const createTimelineOutput = (terminal: Terminal, timeline: Timeline): RunOutput => ({
  event: (event) => timeline.show(event),
  summary({ threadId, workspace, unasked }) {
    const { style } = terminal;
    if (unasked > 0) {
      const calls = unasked === 1 ? "1 call was" : `${unasked} calls were`;
      terminal.write(
        `${style.yellow(`${calls} refused: there is no terminal to ask in.`)} To allow: --approve once\n`,
      );
    }
    const id = oneLine(threadId, 80);
    const log = oneLine(logFile(workspace, threadId), 1000);
    const cwd = workspace === process.cwd() ? "" : ` --cwd ${oneLine(shellWord(workspace), 1000)}`;
    terminal.write(style.dim(`thread ${id}\n  log: ${log}\n  again: harness threads show ${id}${cwd}\n`));
  },
});
