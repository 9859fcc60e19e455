import { toModelReference } from "@harnesskit/models";
import { createThreadClient, type Thread, type ThreadClient } from "@harnesskit/thread-client";
import { usageError } from "../cli-error.ts";
import { logFailure } from "../debug.ts";
import { ExitCode } from "../exit-code.ts";
import { checkedModel } from "../model-option.ts";
import { type ApprovalMode, Approver } from "../run/approver.ts";
import { Interrupts } from "../run/interrupts.ts";
import { toRunFailure } from "../run/run-failure.ts";
import { createJsonOutput, createTimelineOutput } from "../run/run-output.ts";
import { ServerProcess } from "../run/server-process.ts";
import { exitCodeOf, RefusedCalls } from "../run/turn-outcome.ts";
import { safeJson } from "../terminal/safe-json.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { Timeline } from "../timeline/timeline.ts";
import { workspaceDirectory } from "../workspace-directory.ts";

export interface RunOptions {
  readonly cwd: string;
  readonly model?: string;
  readonly agent?: string;
  readonly approve?: "ask" | "once" | "reject";
  readonly thread?: string;
  readonly json?: true;
}

export interface RunContext {
  /** The file of this program, to start the server with. */
  readonly binPath: string;
  readonly version: string;
}

const maxTitleLength = 80;

/** `harness run`: one turn, told as it happens. */
export const run = async (prompt: string, options: RunOptions, context: RunContext): Promise<ExitCode> => {
  if (prompt.trim() === "") throw usageError("The prompt is empty", 'Say what to do: harness run "PROMPT"');
  if (options.model !== undefined) checkedModel(options.model);
  const workspace = await workspaceDirectory(options.cwd);
  try {
    return await runTurn(prompt, workspace, options, context);
  } catch (error) {
    const failure = toRunFailure(error, { workspace, threadId: options.thread });
    if (options.json) {
      const { code, message, exitCode } = failure;
      const data = {
        threadId: options.thread ?? null,
        turnId: null,
        status: "error",
        error: message,
        code,
        exitCode,
      };
      createTerminal().write(`${safeJson({ type: "result", data })}\n`);
    }
    throw failure;
  }
};

const runTurn = async (
  prompt: string,
  workspace: string,
  options: RunOptions,
  { binPath, version }: RunContext,
): Promise<ExitCode> => {
  const terminal = createTerminal();
  const timeline = new Timeline({ terminal, showPrompt: false });
  const server = new ServerProcess({ binPath, workspace });
  let quitting: Promise<never> | undefined;
  const interrupts = new Interrupts(() => {
    quitting = server.quit().then(() => process.exit(ExitCode.failed));
  });
  const mode = approvalMode(options);
  const approver = new Approver({ mode, terminal, timeline, onCancel: interrupts.interrupt });
  const output = options.json ? createJsonOutput(terminal) : createTimelineOutput(terminal, timeline);
  const refused = new RefusedCalls();
  interrupts.listen();
  let client: ThreadClient | undefined;
  try {
    client = await createThreadClient({
      transport: server,
      clientInfo: { name: approver.clientName, version },
      signal: interrupts.signal,
      onApproval: approver.decide,
      onError: (error) => logFailure("harness run", error),
    });
    const thread = await openThread(client, prompt, options);
    approver.directory = thread.directory;
    const turn = await client.startTurn({
      threadId: thread.threadId,
      input: prompt,
      signal: interrupts.signal,
      ...(options.agent === undefined ? {} : { agent: options.agent }),
      ...(options.model === undefined ? {} : { model: toModelReference(options.model) }),
    });
    for await (const event of turn) {
      refused.observe(event);
      output.event(event);
      if (event.type === "approval.requested") approver.reached(event.data.requestId);
      await terminal.ready();
    }
    const result = await turn.result;
    const exitCode = exitCodeOf(result, refused);
    const unasked = mode === "no-terminal" ? refused.rejected : 0;
    const { threadId, turnId } = turn;
    output.summary({ threadId, turnId, workspace, result, exitCode, unasked });
    return exitCode;
  } catch (error) {
    // The loss of a server that was told to quit is no news.
    await quitting;
    throw error;
  } finally {
    finishLine(timeline, options);
    await client?.close();
    interrupts.dispose();
  }
};

const openThread = async (client: ThreadClient, prompt: string, { thread }: RunOptions): Promise<Thread> => {
  if (thread === undefined) return client.createThread({ title: titleOf(prompt) });
  return (await client.getThread(thread, { limit: 1 })).thread;
};

/** The first line of the prompt, bounded. */
const titleOf = (prompt: string): string => {
  const [line = ""] = prompt.trim().split(/\r?\n/, 1);
  const characters = [...line];
  return characters.length <= maxTitleLength ? line : `${characters.slice(0, maxTitleLength - 1).join("")}…`;
};

/** Without a terminal nobody can be asked; with `--json` the terminal belongs to the lines. */
const approvalMode = ({ approve = "ask", json }: RunOptions): ApprovalMode => {
  if (approve !== "ask") return approve;
  return process.stdin.isTTY && process.stdout.isTTY && !json ? "ask" : "no-terminal";
};

/** A line that was begun when something failed gets its end before the error is told. */
const finishLine = (timeline: Timeline, { json }: RunOptions): void => {
  if (!json) timeline.breakLine();
};
