import type { ApprovalRequest } from "@harnesskit/thread-client";
import type { Transport } from "@harnesskit/wire";
import { type WithServerOptions, withServer } from "../attach/connection.ts";
import { Questions, watchedText } from "../attach/questions.ts";
import { type FollowedTurn, ThreadFollower } from "../attach/thread-follower.ts";
import { type CliError, logFailure, refusedError } from "../cli-error.ts";
import type { Interrupts } from "../interruption.ts";
import { Session, type SessionOptions } from "../session/session.ts";
import { Faults } from "../terminal/faults.ts";
import { note } from "../terminal/terminal.ts";
import { createAnswerOutput } from "./answer-output.ts";
import { attachCommand } from "./failures.ts";
import { createJsonOutput, createTimelineOutput, type RunOutput } from "./run-output.ts";

export interface ThreadPartsOptions extends SessionOptions {
  readonly transport: Transport;
  /** The endpoint of a server that others use as well. @default the server ends with its connection */
  readonly endpoint: string | undefined;
  readonly retryFor: number | undefined;
  readonly threadId: string | undefined;
  readonly interrupts: Interrupts;
  readonly noPolicy?: boolean;
}

/** What shows a thread and answers its approvals. */
export interface ThreadParts {
  readonly session: Session;
  readonly connecting: Omit<WithServerOptions, "onError">;
  threadId: string | undefined;
  readonly output: RunOutput;
  /** Shows everything, and takes nothing for the answer: for a turn before that of the command. */
  readonly timelineOutput: RunOutput;
  readonly questions: Questions;
  readonly interrupts: Interrupts;
  readonly notes: Faults;
  end(): Promise<void>;
}

/** The session of a thread: its turns are followed through a server's connection, which may be lost and come back. */
export const createThreadParts = async (options: ThreadPartsOptions): Promise<ThreadParts> => {
  const {
    command,
    version,
    transport,
    endpoint,
    retryFor,
    json = false,
    interrupts,
    noPolicy = false,
  } = options;
  const session = await Session.open(options);
  const { terminal, answer, view, spinner } = session;
  const notes = new Faults(command, { maxLines: 5 });
  const questions = new Questions({
    session,
    onCancel: interrupts.interrupt,
    again: (id) => (endpoint === undefined ? `harness run --thread ${id}` : attachCommand(endpoint, id)),
    onError: notes.tell,
    onWatched: json ? noteWatched : undefined,
  });
  const timelineOutput = json ? createJsonOutput(answer, noPolicy) : createTimelineOutput(terminal, view);
  const parts: ThreadParts = {
    session,
    connecting: {
      transport,
      clientInfo: { name: questions.clientName, version },
      ...{ endpoint, retryFor },
      signal: interrupts.signal,
      onLost: () => {
        spinner?.rest();
        questions.away();
        view.breakLine();
      },
      onBack: () => questions.back(),
      threadId: () => parts.threadId,
    },
    threadId: options.threadId,
    output: json || !session.isAnswerRead ? timelineOutput : createAnswerOutput(answer, timelineOutput),
    timelineOutput,
    questions,
    interrupts,
    notes,
    async end() {
      await session.close();
      view.breakLine();
      notes.end();
      interrupts.dispose();
    },
  };
  return parts;
};

const noteWatched = ({ requestId }: ApprovalRequest): void =>
  note(`harness: ${requestId} waits for an answer. ${watchedText}`);

/**
 * Brings a turn of a thread to its end that was begun before: shows it, answers what waits, and follows it. The first
 * Ctrl-C cancels it. Returns the turn that ended last, undefined where the thread had none. Rejects with a `CliError`
 * `approval_waiting` if no user can be asked.
 *
 * @param turnId a turn that goes on by itself: it is shown although it may have ended by now. @default the one that has no end
 */
export const settleTurn = async (
  threadId: string,
  { session, connecting, output, questions, interrupts, notes }: ThreadParts,
  turnId?: string | undefined,
): Promise<FollowedTurn | undefined> => {
  const onError = notes.tellFollower;
  const follower = new ThreadFollower({
    ...{ ready: () => session.ready(), output, questions, onlyOpenTurn: true, turnId },
    // Without a terminal the question is left for another client, and not refused.
    openTurnRefusal: session.mode === "no-terminal" ? () => approvalWaiting(threadId) : undefined,
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
    `The last turn of ${threadId} has not ended: it waits for an answer, and there is no terminal to ask in`,
    { hint: "Answer it: the same command in a terminal, or with --approve once or --approve reject" },
  );
