import type { EventBody } from "@harnesskit/thread-client";
import { shellWord } from "@harnesskit/wire";
import type { RunningCommand } from "../agents/ended-commands.ts";
import type { FollowedTurn } from "../attach/thread-follower.ts";
import type { CliError } from "../cli-error.ts";
import { io } from "../io.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatDollars, oneLine } from "../terminal/text.ts";
import { type AskedAtHub, JudgedCounts } from "../timeline/judgements.ts";
import { RefusedCalls } from "../timeline/outcomes.ts";
import type { View } from "../timeline/view.ts";
import { LastAnswer } from "./answer-output.ts";

/** What is shown when a turn has ended. */
export interface RunSummary extends FollowedTurn {
  readonly threadId: string;
  /** The file of the thread. @default it is not here */
  readonly log?: string | undefined;
  /** The command that goes on with the thread. `isShort`: a human copies it. */
  readonly again: (isShort: boolean) => string;
  /** What a hub asked. @default nothing */
  readonly askedAtHub?: AskedAtHub | undefined;
  /** What the turn cost, in US dollars. @default unknown */
  readonly cost?: number | undefined;
  /** Commands in the background that end with this run. @default none */
  readonly endedCommands?: readonly RunningCommand[];
}

/** What is said of commands that end with the process that ran them; undefined where there is none. */
export const endedCommandsText = (commands: readonly RunningCommand[]): string | undefined => {
  if (commands.length === 0) return undefined;
  const shown = commands.map(({ id, command }) => `${command} (${id})`);
  return `${commands.length === 1 ? "A command" : `${commands.length} commands`} in the background ended here: ${shown.join(", ")}`;
};

/** The output of a run: a timeline for people, or lines of JSON. */
export interface RunOutput {
  event(event: EventBody): void;
  summary(summary: RunSummary): void;
}

/** @param noPolicy the user chose `--no-policy` */
export const createJsonOutput = (terminal: Terminal, noPolicy = false): RunOutput => {
  const judged = new JudgedCounts();
  const refused = new RefusedCalls();
  const answer = new LastAnswer();
  return {
    event(event) {
      const { type, data } = event;
      judged.observe(event);
      refused.observe(event);
      answer.observe(event);
      terminal.json({ type, data });
    },
    summary(summary) {
      const counts = judged.summary(summary.askedAtHub);
      const policy = noPolicy ? { policy: null } : counts && { policy: { ...counts } };
      const calls = refused.total > 0 && { refusedCalls: refused.total };
      const data = { ...toResult(summary), answer: answer.text, ...calls, ...policy };
      terminal.json({ type: "result", data });
    },
  };
};

const toResult = ({ threadId, turnId, log, result, exitCode, endedCommands = [] }: RunSummary): object => {
  const { status, turn } = result;
  const failure = status === "error" ? { error: result.error, code: result.code } : {};
  const usage = turn.usage === undefined ? {} : { usage: turn.usage };
  return {
    threadId,
    turnId,
    status,
    log,
    exitCode,
    ...usage,
    ...failure,
    endedCommands: endedCommands.length > 0 ? endedCommands : undefined,
  };
};

export const createTimelineOutput = (terminal: Terminal, view: View): RunOutput => ({
  event: (event) => view.show(event),
  summary({ again, unasked, endedCommands = [], cost }) {
    const { style } = terminal;
    const ended = endedCommandsText(endedCommands);
    if (ended !== undefined) {
      terminal.say(`${style.yellow(ended)}. To keep them running: harness serve, and harness run --attach`);
    }
    const unaskedText = "there is no terminal to ask in; to approve: --approve once · ";
    // A turn that cost nothing, or an unknown sum, says nothing of it.
    const spent = cost ? `${formatDollars(cost)} · ` : "";
    const goOn = style.dim(`${spent}to go on: ${again(terminal.columns !== undefined)} "PROMPT"`);
    // The command is there to be copied: a line break would end it.
    terminal.exact(`${unasked > 0 ? style.yellow(unaskedText) : ""}${goOn}`);
  },
});

/** The `result` line of a command that failed before there was one. */
export const failureJson = ({ code, message, exitCode }: CliError, threadId: string | undefined) => {
  const data = { threadId: threadId ?? null, turnId: null, status: "error", error: message, code, exitCode };
  return { type: "result", data };
};

/** How a run comes back to a thread: of the server at `endpoint`, or of the directory `workspace`. */
export const threadCommand =
  (threadId: string, endpoint?: string, workspace = io().cwd()) =>
  (isShort: boolean) => {
    const id = isShort ? threadId.replace(/^ses_/, "").slice(0, 8) : threadId;
    const cwd = workspace === io().cwd() ? "" : ` --cwd ${shellWord(workspace)}`;
    const at = endpoint === undefined ? cwd : ` --attach ${shellWord(endpoint)}`;
    return `harness run${at} --thread ${oneLine(id, 80)}`;
  };
