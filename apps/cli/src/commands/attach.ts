import type { ApprovalRequest, ThreadClient } from "@harnesskit/thread-client";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { attachCommand, comeBackHint, toAttachFailure } from "../attach/attach-failure.ts";
import { chooseThread } from "../attach/choose-thread.ts";
import { ErrorNotes } from "../attach/error-notes.ts";
import { sharedServer } from "../attach/first-contact.ts";
import { type FollowedTurn, ThreadFollower } from "../attach/thread-follower.ts";
import { withServer } from "../attach/with-server.ts";
import { socketPathOf } from "../endpoint.ts";
import { ExitCode } from "../exit-code.ts";
import { interruptedExitCode } from "../interruption.ts";
import { type ApprovalMode, Approver, watchedText } from "../run/approver.ts";
import { Interrupts } from "../run/interrupts.ts";
import { createJsonOutput, createTimelineOutput, failureLine } from "../run/run-output.ts";
import { note } from "../terminal/note.ts";
import { oneLine } from "../terminal/one-line.ts";
import { safeJson } from "../terminal/safe-json.ts";
import { canSpin, Spinner } from "../terminal/spinner.ts";
import { createTerminal, type Terminal } from "../terminal/terminal.ts";
import { Timeline } from "../timeline/timeline.ts";

export interface AttachOptions {
  readonly thread?: string;
  readonly approve?: "ask" | "once" | "reject";
  /** Events up to this number are not shown. */
  readonly after?: number;
  readonly follow?: true;
  /** How long the server is tried again, in seconds. @default 60 where it was there */
  readonly retryFor?: number;
  readonly json?: true;
}

/** `harness attach`: follows a thread of a server that runs, and answers what waits there. */
export const attach = async (
  endpoint: string,
  options: AttachOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  socketPathOf(endpoint, "attach");
  const chosen = { threadId: options.thread };
  try {
    return await followThread(endpoint, options, { version, chosen });
  } catch (error) {
    const failure = toAttachFailure(error, { option: "attach", endpoint, ...chosen });
    if (options.json) createTerminal().write(failureLine(failure, chosen.threadId));
    throw failure;
  }
};

interface FollowContext {
  readonly version: string;
  /** The thread, once it is known. */
  readonly chosen: { threadId: string | undefined };
}

const followThread = async (
  endpoint: string,
  options: AttachOptions,
  { version, chosen }: FollowContext,
): Promise<ExitCode> => {
  const { json, after, follow, retryFor } = options;
  const terminal = createTerminal();
  const spinner = json || !canSpin(process.stdout) ? undefined : new Spinner();
  const timeline = new Timeline({ terminal, spinner });
  const breakLine = () => {
    if (!json) timeline.breakLine();
  };
  const interrupts = new Interrupts(() => process.exit(interruptedExitCode()));
  const { signal } = interrupts;
  const approver = new Approver({
    command: "harness attach",
    mode: approvalMode(options),
    terminal,
    timeline,
    onCancel: interrupts.interrupt,
    ...(json && { onWatched: tellWatched, tellsAnswers: false }),
  });
  const output = json ? createJsonOutput(terminal) : createTimelineOutput(terminal, timeline);
  const notes = new ErrorNotes("harness attach");
  const onError = notes.tellFollower;
  const follower = new ThreadFollower({
    terminal,
    output,
    approver,
    signal,
    onError,
    ...(after === undefined ? {} : { after }),
    ...(follow && { stay: true }),
  });
  const server = {
    transport: createUnixTransport({ path: socketPathOf(endpoint, "attach") }),
    clientInfo: { name: approver.clientName, version },
    shared: sharedServer(endpoint, retryFor),
    signal,
    onError,
    onLost: () => {
      spinner?.rest();
      approver.gate.close();
      breakLine();
    },
    onBack: () => approver.gate.open(),
    comeBackHint: () => comeBackHint(endpoint, chosen.threadId),
  };
  interrupts.listen();
  try {
    return await withServer(server, async (client) => {
      const id =
        chosen.threadId ?? (await chooseThread(client, endpoint, json ? undefined : terminal, signal));
      chosen.threadId = id;
      const turn = await follower.follow(client, id);
      breakLine();
      if (signal.aborted) return detached(id, client, follower);
      if (!turn) return idle(id, terminal, json);
      const again = attachCommand(endpoint, id);
      output.summary({ ...toSummary(turn), threadId: id, log: undefined, again });
      return turn.exitCode;
    });
  } finally {
    spinner?.dispose();
    breakLine();
    notes.end();
    interrupts.dispose();
  }
};

/** The user has left; a turn that runs goes on. */
const detached = (threadId: string, client: ThreadClient, follower: ThreadFollower): ExitCode => {
  const isThere = client.state === "connected";
  const goesOn = follower.openTurn === undefined ? "" : "; its turn goes on";
  note(`harness: detached from ${oneLine(threadId, 80)}${isThere ? goesOn : "; the server is not back"}`);
  return interruptedExitCode() ?? ExitCode.interrupted;
};

const idle = (threadId: string, terminal: Terminal, json: true | undefined): ExitCode => {
  const data = { threadId, turnId: null, status: "idle", exitCode: ExitCode.done };
  const line = json
    ? safeJson({ type: "result", data })
    : "Nothing has run in this thread yet. To wait for it: --follow";
  terminal.write(`${line}\n`);
  return ExitCode.done;
};

const toSummary = ({ turnId, result, exitCode }: FollowedTurn) => ({ turnId, result, exitCode, unasked: 0 });

/** Without a terminal the question is left to others; with `--json` the terminal belongs to the lines. */
const approvalMode = ({ approve = "ask", json }: AttachOptions): ApprovalMode => {
  if (approve !== "ask") return approve;
  return process.stdin.isTTY && process.stdout.isTTY && !json ? "ask" : "watch";
};

const tellWatched = ({ requestId }: ApprovalRequest): void => {
  note(`harness: ${oneLine(requestId, 200)} waits for an answer. ${watchedText}`);
};
