import { toAttachmentRef } from "@harnesskit/shell-client";
import { randomId } from "@harnesskit/wire";
import { usageError } from "../cli-error.ts";
import type { ExitCode } from "../exit-code.ts";
import { forgetInterruption, interruptedExitCode, noteInterruption } from "../interruption.ts";
import { openEngine } from "../shell/engine-access.ts";
import { findRunningEngine, type RunningEngine } from "../shell/running-engine.ts";
import { type ShellApprovalMode, ShellApprover } from "../shell/shell-approver.ts";
import { ShellConversation } from "../shell/shell-conversation.ts";
import { ShellLines } from "../shell/shell-lines.ts";
import { type KeptConversation, ShellState } from "../shell/shell-state.ts";
import { ShellView } from "../shell/shell-view.ts";
import { shellStateDirectory } from "../shell/state-directory.ts";
import { oneLine } from "../terminal/one-line.ts";
import { shellWord } from "../terminal/shell-word.ts";
import { createTerminal } from "../terminal/terminal.ts";

export interface ShellOptions {
  readonly engine?: string;
  readonly tokenFile?: string;
  readonly session?: string;
  /** Begins another conversation. */
  readonly new?: true;
  readonly approve?: "ask" | "once" | "reject";
  /** References of what goes with the first message. @default none */
  readonly attach?: readonly string[];
  /** How long an answer is waited for, in seconds. */
  readonly timeout: number;
}

const maxSessionIdLength = 200;
const maxTimeoutSeconds = 86_400;

const modeOf = (approve: ShellOptions["approve"], hasTerminal: boolean): ShellApprovalMode => {
  if (approve === "once" || approve === "reject") return approve;
  if (approve === "ask" && !hasTerminal) {
    throw usageError("--approve ask needs a terminal", "Without one: --approve once, or --approve reject");
  }
  return hasTerminal ? "ask" : "no-terminal";
};

const sessionIdOf = async ({ session, new: isNew }: ShellOptions, state: ShellState): Promise<string> => {
  if (session === undefined) {
    const last = isNew ? undefined : await state.lastSessionId();
    return last ?? randomId("sess");
  }
  if (session !== "" && session.length <= maxSessionIdLength) return session;
  throw usageError(`--session: an id has 1 to ${maxSessionIdLength} characters`);
};

/** The engine that is named, else the one that this user serves. */
const engineOf = async ({ engine, tokenFile }: ShellOptions): Promise<RunningEngine> => {
  if (engine !== undefined) return { url: engine, tokenFile };
  const running = await findRunningEngine();
  if (running) return { url: running.url, tokenFile: tokenFile ?? running.tokenFile };
  throw usageError(
    "No engine runs here: say which with --engine URL",
    "harness engine serves one, and prints its URL",
  );
};

/** The command that goes on with a conversation. */
const againText = (url: string, sessionId: string, tokenFile: string | undefined): string => {
  const token = tokenFile === undefined ? "" : ` --token-file ${shellWord(tokenFile)}`;
  return `harness shell --engine ${shellWord(url)}${token} --session ${shellWord(sessionId)}`;
};

/** `harness shell`: says something to an engine, or a conversation with it, at the terminal or with the lines of standard input. */
export const shell = async (
  intent: string | undefined,
  options: ShellOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  if (intent !== undefined && intent.trim() === "") {
    throw usageError("There is nothing to say", 'For example: harness shell --engine URL "hello"');
  }
  const { timeout, attach = [] } = options;
  if (attach.some((reference) => reference.trim() === "")) {
    throw usageError("--attach: a reference must not be empty", "For example: --attach img/a.png");
  }
  if (timeout < 1 || timeout > maxTimeoutSeconds) {
    throw usageError(`--timeout: a number from 1 to ${maxTimeoutSeconds}`);
  }
  const hasTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const mode = modeOf(options.approve, hasTerminal);
  const timeoutMs = timeout * 1000;
  const { url: engine, tokenFile } = await engineOf(options);
  const { url, exchange } = await openEngine({ engine, tokenFile, timeoutMs });
  const state = new ShellState(shellStateDirectory(), url);
  const sessionId = await sessionIdOf(options, state);
  const kept: KeptConversation = (await state.load(sessionId)) ?? { session: { sessionId }, pending: [] };
  const again = oneLine(againText(url, sessionId, tokenFile), 1_200);
  const view = new ShellView(createTerminal());
  let interrupts = 0;
  const onInterrupt = () => {
    noteInterruption();
    if (++interrupts > 1) process.exit(interruptedExitCode());
    const isCancelled = conversation.cancel();
    // At a terminal the user goes on with the conversation.
    if (isCancelled && intent === undefined && hasTerminal) forgetInterruption();
    else lines.close();
  };
  // The two need each other: who asks takes the keyboard from who reads lines.
  const beforeAsk = () => lines.giveUp();
  const approver = new ShellApprover({
    mode,
    view,
    beforeAsk,
    // A conversation goes on without the answer.
    onInterrupt: () => {
      if (intent !== undefined) noteInterruption();
    },
  });
  const lines = new ShellLines({
    view,
    approver,
    onInterrupt,
    onLine: () => {
      interrupts = 0;
    },
  });
  const tell = (line: string) => process.stderr.write(`harness shell: ${line}\n`);
  const conversation = new ShellConversation({
    engine: exchange,
    timeoutMs,
    version,
    kept,
    state,
    mode,
    approver,
    attachments: attach.map(toAttachmentRef),
    view,
    beforeAsk,
    tell,
  });
  process.on("SIGINT", onInterrupt);
  try {
    if (intent === undefined) {
      view.note(`session ${oneLine(sessionId, 80)}, engine ${oneLine(url, 300)}; /help says what there is`);
    }
    await conversation.followUp();
    if (intent === undefined) await lines.follow(conversation);
    else await conversation.say({ intent });
    const count = conversation.pending.length;
    if (count > 0) {
      const what = count === 1 ? "1 question waits" : `${count} questions wait`;
      tell(`${what} for your approval: ${again}`);
    } else if (intent === undefined) view.note(`again: ${again}`);
    return conversation.exitCode;
  } finally {
    process.off("SIGINT", onInterrupt);
    lines.close();
    await conversation.close();
    exchange.close();
  }
};
