import { toModelReference } from "@harnesskit/models";
import { ThreadErrorCode } from "@harnesskit/protocol/threads";
import type { Thread, ThreadClient, TurnHandle } from "@harnesskit/thread-client";
import { ProtocolError } from "@harnesskit/wire";
import { attachCommand } from "../attach/attach-failure.ts";
import type { FollowedTurn } from "../attach/thread-follower.ts";
import { withServer } from "../attach/with-server.ts";
import { CliError, usageError } from "../cli-error.ts";
import { socketPathOf } from "../endpoint.ts";
import type { ExitCode } from "../exit-code.ts";
import { checkedModel } from "../model-option.ts";
import { toFileInput } from "../run/file-input.ts";
import type { Interrupts } from "../run/interrupts.ts";
import { promptOf } from "../run/piped-prompt.ts";
import { toRunFailure } from "../run/run-failure.ts";
import { failureLine, type RunSummary, storedPlace } from "../run/run-output.ts";
import { createRunParts, type RunParts } from "../run/run-parts.ts";
import { settleTurn } from "../run/settle-turn.ts";
import { exitCodeOf } from "../run/turn-outcome.ts";
import { checkPolicyFile } from "../supervision/check-policy-file.ts";
import {
  noPolicyText,
  type PolicyOptions,
  toPolicyArgs,
  toPolicyChoice,
} from "../supervision/policy-choice.ts";
import { note } from "../terminal/note.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { wrapText } from "../terminal/wrap-text.ts";
import { RefusedCalls } from "../timeline/refused-calls.ts";
import { workspaceDirectory } from "../workspace-directory.ts";

export interface RunOptions extends PolicyOptions {
  readonly cwd: string;
  readonly model?: string;
  readonly agent?: string;
  readonly approve?: "ask" | "once" | "reject";
  readonly thread?: string;
  /** Files that the model is given, by paths from the current directory. @default none */
  readonly file?: readonly string[];
  /** The endpoint of a server that runs. @default one is started */
  readonly attach?: string;
  /** How long the server of `attach` is tried again, in seconds. @default 60 where it was there */
  readonly retryFor?: number;
  readonly json?: true;
}

export interface RunContext {
  /** The file of this program, to start the server with. */
  readonly binPath: string;
  readonly version: string;
}

const maxTitleLength = 80;

/**
 * `harness run`: one turn, shown as it happens; the prompt is `argument`, or standard input (see `promptOf`). Where the
 * thread's last turn has not ended, that one first. Without a prompt only that one.
 */
export const run = async (
  argument: string | undefined,
  options: RunOptions,
  context: RunContext,
): Promise<ExitCode> => {
  const { thread: threadId, attach } = options;
  if (options.model !== undefined) checkedModel(options.model);
  if (attach !== undefined) socketPathOf(attach, "--attach");
  const choice = toPolicyChoice(options);
  const workspace = await workspaceDirectory(options.cwd);
  await checkPolicyFile(choice, (line) => note(`harness run: ${line}`));
  const prompt = await promptOf(argument, options);
  if (prompt === undefined ? threadId === undefined : prompt.trim() === "") {
    throw usageError(
      "The prompt is empty",
      'Say what to do: harness run "PROMPT", or echo "PROMPT" | harness run',
    );
  }
  if (prompt === undefined && options.file !== undefined) {
    throw usageError("--file needs a prompt", 'Say what to do: harness run --file PATH "PROMPT"');
  }
  const noPolicy = attach === undefined && choice.kind === "none";
  if (noPolicy) {
    const terminal = createTerminal(process.stderr);
    terminal.write(wrapText(`harness run: ${noPolicyText}\n`, terminal.columns));
  }
  const judged = { policyArgs: toPolicyArgs(options), noPolicy };
  const { approve, json = false, retryFor } = options;
  const parts = createRunParts({
    ...context,
    workspace,
    approve,
    attach,
    json,
    threadId,
    retryFor,
    ...judged,
  });
  try {
    return await runTurns(prompt, workspace, options, parts);
  } catch (error) {
    const failure = toRunFailure(error, { workspace, threadId: parts.threadId, attach });
    if (json) createTerminal().write(failureLine(failure, threadId));
    throw failure;
  }
};

const runTurns = async (
  prompt: string | undefined,
  workspace: string,
  options: RunOptions,
  parts: RunParts,
): Promise<ExitCode> => {
  const { attach, thread: threadId } = options;
  const placeOf = (id: string): Pick<RunSummary, "log" | "again"> =>
    attach === undefined ? storedPlace(workspace, id) : { log: undefined, again: attachCommand(attach, id) };
  parts.interrupts.listen();
  try {
    if (prompt !== undefined) {
      const exitCode = await startTurn(prompt, options, parts, placeOf);
      if (exitCode !== "busy") return exitCode;
    }
    const settled = threadId === undefined ? undefined : await settleTurn(threadId, parts);
    const isDone = prompt !== undefined && (!settled || settled.result.status === "completed");
    if (!isDone || prompt === undefined) return endWith(settled, parts, placeOf);
    const exitCode = await startTurn(prompt, options, parts, placeOf);
    if (exitCode !== "busy") return exitCode;
    throw new CliError("turn_busy", "Another client has begun a turn in this thread", {
      hint: "Try again when it has ended",
    });
  } catch (error) {
    // The loss of a server that was told to quit is no news.
    await parts.quitting();
    throw error;
  } finally {
    parts.spinner?.dispose();
    parts.breakLine();
    parts.notes.end();
    parts.interrupts.dispose();
  }
};

type PlaceOf = (threadId: string) => Pick<RunSummary, "log" | "again">;

/** Tells the end of a turn that was begun before. */
const endWith = (
  settled: FollowedTurn | undefined,
  { output, breakLine }: RunParts,
  placeOf: PlaceOf,
): ExitCode => {
  breakLine();
  if (!settled) {
    throw usageError("Nothing waits in this thread", 'Say what to do: harness run --thread ID "PROMPT"');
  }
  const { turnId, result, exitCode } = settled;
  const { threadId } = result.turn;
  output.summary({ threadId, turnId, result, exitCode, unasked: 0, ...placeOf(threadId) });
  return exitCode;
};

/** Does one turn, unless one of the same thread has not ended yet. */
const startTurn = async (
  prompt: string,
  options: RunOptions,
  parts: RunParts,
  placeOf: PlaceOf,
): Promise<ExitCode | "busy"> => {
  try {
    return await withServer({ ...parts.connecting, onError: parts.notes.tell }, async (client) => {
      const thread = await openThread(client, prompt, options, parts.interrupts);
      parts.threadId = thread.threadId;
      parts.approver.directory = thread.directory;
      return followTurn(await beginTurn(client, thread, prompt, options, parts), parts, placeOf);
    });
  } catch (error) {
    if (options.thread !== undefined && isTurnOpen(error)) return "busy";
    throw error;
  }
};

const beginTurn = async (
  client: ThreadClient,
  { threadId, directory }: Thread,
  prompt: string,
  { agent, model, file = [] }: RunOptions,
  { approver, interrupts }: RunParts,
): Promise<TurnHandle> =>
  client.startTurn({
    threadId,
    input: [
      { type: "text", text: prompt },
      ...(await Promise.all(file.map((path) => toFileInput(path, directory)))),
    ],
    signal: interrupts.signal,
    // Of this turn only: a server that others use as well tells of their questions, too.
    onApproval: approver.decide,
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model: toModelReference(model) }),
  });

const followTurn = async (
  turn: TurnHandle,
  { terminal, output, approver }: RunParts,
  placeOf: PlaceOf,
): Promise<ExitCode> => {
  const refused = new RefusedCalls();
  for await (const event of turn) {
    refused.observe(event);
    output.event(event);
    if (event.type === "approval.requested") approver.reached(event.data.requestId);
    if (event.type === "approval.resolved") approver.resolved(event.data);
    await terminal.ready();
  }
  const result = await turn.result;
  const exitCode = exitCodeOf(result, refused);
  const unasked = refused.count("unattended");
  const { threadId, turnId } = turn;
  output.summary({ threadId, turnId, result, exitCode, unasked, ...placeOf(threadId) });
  return exitCode;
};

/** True when the thread's last turn has no end; not where another server writes the thread. */
const isTurnOpen = (error: unknown): boolean => {
  if (!ProtocolError.isInstance(error) || error.rpcCode !== ThreadErrorCode.TurnBusy) return false;
  const { data } = error;
  return typeof data === "object" && data !== null && "turnId" in data;
};

const openThread = async (
  client: ThreadClient,
  prompt: string,
  { thread }: RunOptions,
  { signal }: Interrupts,
): Promise<Thread> => {
  if (thread !== undefined) return (await client.getThread(thread, { limit: 1, signal })).thread;
  return client.createThread({ title: titleOf(prompt) }, { signal });
};

/** The first line of the prompt, bounded. */
const titleOf = (prompt: string): string => {
  const [line = ""] = prompt.trim().split(/\r?\n/, 1);
  const characters = [...line];
  return characters.length <= maxTitleLength ? line : `${characters.slice(0, maxTitleLength - 1).join("")}…`;
};
