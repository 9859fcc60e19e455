import type { ApprovalRequest } from "@harnesskit/thread-client";
import type { Transport } from "@harnesskit/wire";
import { sharedServer, type WithServerOptions, withServer } from "../attach/connection.ts";
import { Questions, watchedText } from "../attach/questions.ts";
import { type FollowedTurn, ThreadFollower } from "../attach/thread-follower.ts";
import { type CliError, logFailure, refusedError } from "../cli-error.ts";
import type { Interrupts } from "../interruption.ts";
import type { AskMode, AskTerminal } from "../terminal/asker.ts";
import { ErrorNotes } from "../terminal/line-budget.ts";
import { proseFor } from "../terminal/prose.ts";
import { canSpin, Spinner } from "../terminal/spinner.ts";
import { createTerminal, note, type Terminal } from "../terminal/terminal.ts";
import { oneLine, wrapText } from "../terminal/text.ts";
import { View } from "../timeline/view.ts";
import { createAnswerOutput } from "./answer-output.ts";
import { createJsonOutput, createTimelineOutput, type RunOutput } from "./run-output.ts";
import { questionStream, type RunStreams, streamTerminals } from "./run-streams.ts";

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
  readonly streams: RunStreams;
  readonly interrupts: Interrupts;
  /** Show what the user said. @default true */
  readonly showPrompt?: boolean;
  readonly noPolicy?: boolean;
}

/** What shows a thread and answers its approvals. */
export interface ThreadParts {
  readonly connecting: Omit<WithServerOptions, "onError">;
  threadId: string | undefined;
  readonly terminal: Terminal;
  readonly output: RunOutput;
  /** Shows everything, and takes nothing for the answer: for a turn before that of the command. */
  readonly timelineOutput: RunOutput;
  readonly questions: Questions;
  readonly interrupts: Interrupts;
  readonly mode: AskMode;
  /** The terminal to ask in, where the user is asked. */
  readonly askTerminal: AskTerminal | undefined;
  readonly spinner: Spinner | undefined;
  readonly notes: ErrorNotes;
  /** Ends a line that is open, so that something else can be written. */
  readonly breakLine: () => void;
  /** Shows lines in the timeline; nothing with `--json`. */
  readonly showLines: (lines: readonly string[]) => void;
  /** Settles when what was written has left, or is taken. */
  readonly ready: () => Promise<void>;
  end(): void;
}

export const createThreadParts = async (options: ThreadPartsOptions): Promise<ThreadParts> => {
  const { command, version, transport, endpoint, retryFor, json, streams, interrupts } = options;
  const { showPrompt = true, noPolicy = false } = options;
  const { shown: terminal, answer } = streamTerminals(streams);
  const { shown: stream, answer: other } = streams;
  const spinner = json || !canSpin(stream) ? undefined : new Spinner({ stream, other });
  const openProse = json ? undefined : await proseFor(terminal, answer);
  const isRead = answer.columns === undefined && answer !== terminal;
  const view = new View({
    ...{ terminal, showPrompt, spinner, openProse },
    says: isRead ? terminal : answer,
  });
  const asksOn = json ? undefined : questionStream(streams);
  const askTerminal = asksOn && toAskTerminal(asksOn, streams, view);
  const mode = askMode(options, askTerminal !== undefined);
  const notes = new ErrorNotes(command);
  const questions = new Questions({
    ...{ command, mode, view, askTerminal },
    onCancel: interrupts.interrupt,
    onError: notes.tell,
    onWatched: json ? noteWatched : undefined,
  });
  const breakLine = () => {
    if (!json) view.breakLine();
  };
  const timelineOutput = json
    ? createJsonOutput(answer, { noPolicy })
    : createTimelineOutput(terminal, view, { noPolicy });
  const parts: ThreadParts = {
    connecting: {
      transport,
      clientInfo: { name: questions.clientName, version },
      shared: endpoint === undefined ? undefined : sharedServer(endpoint, retryFor),
      signal: interrupts.signal,
      onLost: () => {
        spinner?.rest();
        questions.away();
        breakLine();
      },
      onBack: () => questions.back(),
      threadId: () => parts.threadId,
    },
    threadId: options.threadId,
    terminal,
    output: json || !isRead ? timelineOutput : createAnswerOutput(answer, timelineOutput),
    timelineOutput,
    questions,
    interrupts,
    mode,
    askTerminal,
    spinner,
    notes,
    breakLine,
    showLines(lines) {
      if (!json) view.lines(lines);
    },
    async ready() {
      await terminal.ready();
      await answer.ready();
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

const askMode = ({ approve = "ask", withoutTerminal }: ThreadPartsOptions, canAsk: boolean): AskMode => {
  if (approve !== "ask") return approve;
  return canAsk ? "ask" : withoutTerminal;
};

/** A question is shown where it is asked, which may be another terminal than the one that shows the rest. */
const toAskTerminal = (output: NodeJS.WriteStream, { shown }: RunStreams, view: View): AskTerminal => {
  if (output === shown) return { output, show: (lines) => view.lines(lines) };
  const terminal = createTerminal(output);
  const write = (line: string) => terminal.write(`${wrapText(line, terminal.columns)}\n`);
  return { output, show: (lines) => lines.forEach(write) };
};

const noteWatched = ({ requestId }: ApprovalRequest): void =>
  note(`harness: ${oneLine(requestId, 200)} waits for an answer. ${watchedText}`);

/**
 * Brings a turn of a thread to its end that was begun before: shows it, answers what waits, and follows it. The first
 * Ctrl-C cancels it. Returns the turn that ended last, undefined where the thread had none. Rejects with a `CliError`
 * `approval_waiting` if no user can be asked.
 *
 * @param turnId a turn that goes on by itself: it is shown although it may have ended by now. @default the one that has no end
 */
export const settleTurn = async (
  threadId: string,
  { connecting, ready, output, questions, interrupts, mode, notes }: ThreadParts,
  turnId?: string | undefined,
): Promise<FollowedTurn | undefined> => {
  const onError = notes.tellFollower;
  const follower = new ThreadFollower({
    ...{ ready, output, questions, onlyOpenTurn: true, turnId },
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
