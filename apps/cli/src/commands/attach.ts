import type { ApprovalRequest } from "@harnesskit/thread-client";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { toAttachFailure } from "../attach/attach-failure.ts";
import { chooseThread } from "../attach/choose-thread.ts";
import { type FollowedTurn, ThreadFollower } from "../attach/thread-follower.ts";
import { ThreadLink } from "../attach/thread-link.ts";
import { logFailure } from "../debug.ts";
import { socketPathOf } from "../endpoint.ts";
import { ExitCode } from "../exit-code.ts";
import { type ApprovalMode, Approver, watchedText } from "../run/approver.ts";
import { Interrupts } from "../run/interrupts.ts";
import { createJsonOutput, createTimelineOutput, failureLine } from "../run/run-output.ts";
import { oneLine } from "../terminal/one-line.ts";
import { safeJson } from "../terminal/safe-json.ts";
import { shellWord } from "../terminal/shell-word.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { Timeline } from "../timeline/timeline.ts";

export interface AttachOptions {
  readonly thread?: string;
  readonly approve?: "ask" | "once" | "reject";
  /** Events up to this number are not shown. */
  readonly after?: number;
  readonly follow?: true;
  readonly json?: true;
}

/** `harness attach`: follows a thread of a server that runs, and answers what waits there. */
export const attach = async (
  endpoint: string,
  options: AttachOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  socketPathOf(endpoint, "attach");
  try {
    return await followThread(endpoint, options, version);
  } catch (error) {
    const failure = toAttachFailure(error, "attach", options.thread);
    if (options.json) createTerminal().write(failureLine(failure, options.thread));
    throw failure;
  }
};

const followThread = async (endpoint: string, options: AttachOptions, version: string): Promise<ExitCode> => {
  const { json, after, follow } = options;
  const terminal = createTerminal();
  const timeline = new Timeline({ terminal });
  const interrupts = new Interrupts(() => process.exit(ExitCode.failed));
  const { signal } = interrupts;
  const mode = approvalMode(options);
  const approver = new Approver({
    command: "harness attach",
    mode,
    terminal,
    timeline,
    onCancel: interrupts.interrupt,
    ...(json && { onWatched: tellWatched, tellsAnswers: false }),
  });
  const output = json ? createJsonOutput(terminal) : createTimelineOutput(terminal, timeline);
  const follower = new ThreadFollower({
    terminal,
    output,
    approver,
    signal,
    ...(after === undefined ? {} : { after }),
    ...(follow && { stay: true }),
  });
  interrupts.listen();
  let link: ThreadLink | undefined;
  try {
    link = await ThreadLink.open({
      transport: createUnixTransport({ path: socketPathOf(endpoint, "attach") }),
      clientInfo: { name: approver.clientName, version },
      onEvent: follower.take,
      onError: (error) => logFailure("harness attach", error),
      signal,
    });
    const threadId = options.thread ?? (await chooseThread(link, endpoint, json ? undefined : terminal));
    const turn = await follower.follow(link, threadId);
    if (!json) timeline.breakLine();
    if (signal.aborted) {
      const goesOn = follower.openTurn === undefined ? "" : "; its turn goes on";
      process.stderr.write(`harness: detached from ${oneLine(threadId, 80)}${goesOn}\n`);
      return follow ? ExitCode.done : ExitCode.failed;
    }
    if (!turn) {
      const idle = { threadId, turnId: null, status: "idle", exitCode: ExitCode.done };
      const line = json
        ? safeJson({ type: "result", data: idle })
        : "Nothing has run in this thread yet. To wait for it: --follow";
      terminal.write(`${line}\n`);
      return ExitCode.done;
    }
    output.summary({ ...toSummary(turn), threadId, log: undefined, again: againOf(endpoint, threadId) });
    return turn.exitCode;
  } finally {
    if (!json) timeline.breakLine();
    await link?.close();
    interrupts.dispose();
  }
};

const toSummary = ({ turnId, result, exitCode }: FollowedTurn) => ({ turnId, result, exitCode, unasked: 0 });

const againOf = (endpoint: string, threadId: string): string =>
  `harness attach ${shellWord(endpoint)} --thread ${oneLine(threadId, 80)}`;

/** Without a terminal the question is left to others; with `--json` the terminal belongs to the lines. */
const approvalMode = ({ approve = "ask", json }: AttachOptions): ApprovalMode => {
  if (approve !== "ask") return approve;
  return process.stdin.isTTY && process.stdout.isTTY && !json ? "ask" : "watch";
};

const tellWatched = ({ requestId }: ApprovalRequest): void => {
  process.stderr.write(`harness: ${oneLine(requestId, 200)} waits for an answer. ${watchedText}\n`);
};
