import type { ApprovalRequest } from "@harnesskit/thread-client";
import type { Transport } from "@harnesskit/wire";
import { sharedServer, type WithServerOptions, withServer } from "../attach/connection.ts";
import { type FollowedTurn, ThreadFollower } from "../attach/thread-follower.ts";
import { type CliError, logFailure, refusedError } from "../cli-error.ts";
import type { Interrupts } from "../interruption.ts";
import { ErrorNotes } from "../terminal/line-budget.ts";
import type { OpenProse } from "../terminal/prose.ts";
import { canSpin, Spinner } from "../terminal/spinner.ts";
import { createTerminal, note, type Terminal } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";
import { Timeline } from "../timeline/timeline.ts";
import { type ApprovalMode, Approver, watchedText } from "./approver.ts";
import { createJsonOutput, createTimelineOutput, type RunOutput } from "./run-output.ts";

export interface ThreadPartsOptions {
  readonly command: "harness run" | "harness attach";
  readonly version: string;
  readonly transport: Transport;
  /** The endpoint of a server that others use as well. @default the server ends with its connection */
  readonly endpoint: string | undefined;
  readonly retryFor: number | undefined;
  readonly threadId: string | undefined;
  readonly approve: "ask" | "once" | "reject" | undefined;
  /** What `--approve ask` is without a terminal. */
  readonly withoutTerminal: "no-terminal" | "watch";
  readonly json: boolean;
  readonly interrupts: Interrupts;
  /** Show what the user said. @default true */
  readonly showPrompt?: boolean;
  readonly noPolicy?: boolean;
  /** Shows what the model says. @default as it is */
  readonly openProse?: OpenProse | undefined;
}

/** What shows a thread and answers its approvals. */
export interface ThreadParts {
  readonly connecting: Omit<WithServerOptions, "onError">;
  threadId: string | undefined;
  readonly terminal: Terminal;
  readonly output: RunOutput;
  readonly approver: Approver;
  readonly interrupts: Interrupts;
  readonly mode: ApprovalMode;
  readonly spinner: Spinner | undefined;
  readonly notes: ErrorNotes;
  /** Ends a line that is open, so that something else can be written. */
  readonly breakLine: () => void;
  /** Shows lines in the timeline; nothing with `--json`. */
  readonly showLines: (lines: readonly string[]) => void;
  end(): void;
}

export const createThreadParts = (options: ThreadPartsOptions): ThreadParts => {
  const { command, version, transport, endpoint, retryFor, json, interrupts } = options;
  const { showPrompt = true, noPolicy = false } = options;
  const terminal = createTerminal();
  const spinner = json || !canSpin(process.stdout) ? undefined : new Spinner();
  const timeline = new Timeline({ terminal, showPrompt, spinner, openProse: options.openProse });
  const mode = approvalMode(options);
  const approver = new Approver({
    command,
    mode,
    terminal,
    timeline,
    onCancel: interrupts.interrupt,
    onWatched: json ? noteWatched : undefined,
    tellsAnswers: json ? false : undefined,
  });
  const breakLine = () => {
    if (!json) timeline.breakLine();
  };
  const notes = new ErrorNotes(command);
  const parts: ThreadParts = {
    connecting: {
      transport,
      clientInfo: { name: approver.clientName, version },
      shared: endpoint === undefined ? undefined : sharedServer(endpoint, retryFor),
      signal: interrupts.signal,
      onLost: () => {
        spinner?.rest();
        approver.gate.close();
        breakLine();
      },
      onBack: () => approver.gate.open(),
      threadId: () => parts.threadId,
    },
    threadId: options.threadId,
    terminal,
    output: json
      ? createJsonOutput(terminal, { noPolicy })
      : createTimelineOutput(terminal, timeline, { noPolicy }),
    approver,
    interrupts,
    mode,
    spinner,
    notes,
    breakLine,
    showLines(lines) {
      if (!json) timeline.lines(lines);
    },
    end() {
      spinner?.dispose();
      breakLine();
      notes.end();
      interrupts.dispose();
    },
  };
  return parts;
};

const approvalMode = ({ approve = "ask", json, withoutTerminal }: ThreadPartsOptions): ApprovalMode => {
  if (approve !== "ask") return approve;
  return process.stdin.isTTY && process.stdout.isTTY && !json ? "ask" : withoutTerminal;
};

const noteWatched = ({ requestId }: ApprovalRequest): void =>
  note(`harness: ${oneLine(requestId, 200)} waits for an answer. ${watchedText}`);

/**
 * Brings a turn of a thread to its end that was begun before: shows it, answers what waits, and follows it. The first
 * Ctrl-C cancels it. Returns the turn that ended last, undefined where the thread had none. Rejects with a `CliError`
 * `approval_waiting` if no user can be asked.
 */
export const settleTurn = async (
  threadId: string,
  { connecting, terminal, output, approver, interrupts, mode, notes }: ThreadParts,
): Promise<FollowedTurn | undefined> => {
  const onError = notes.tellFollower;
  const follower = new ThreadFollower({
    ...{ terminal, output, approver, onlyOpenTurn: true, onError },
    // Without a terminal the question is left for another client, and not refused.
    openTurnRefusal: mode === "no-terminal" ? () => approvalWaiting(threadId) : undefined,
  });
  const { signal } = interrupts;
  return withServer({ ...connecting, onError }, async (client) => {
    const cancel = () => void client.cancelTurn(threadId).catch((error) => logFailure("harness run", error));
    signal.addEventListener("abort", cancel, { once: true });
    try {
      return await follower.follow(client, threadId);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  });
};

const approvalWaiting = (threadId: string): CliError =>
  refusedError(
    "approval_waiting",
    `The last turn of ${oneLine(threadId, 80)} has not ended: it waits for an answer, and there is no terminal to ask in`,
    { hint: "Answer it: the same command in a terminal, or with --approve once or --approve reject" },
  );
