import type { ApprovalRequest, ThreadClient } from "@harnesskit/thread-client";
import type { Transport } from "@harnesskit/wire";
import { withServer } from "../attach/connection.ts";
import { Questions, watchedText } from "../attach/questions.ts";
import { ThreadFollower } from "../attach/thread-follower.ts";
import type { CliError } from "../cli-error.ts";
import type { Interrupts } from "../interruption.ts";
import { Session, type SessionOptions } from "../session/session.ts";
import { Faults } from "../terminal/faults.ts";
import { note } from "../terminal/terminal.ts";
import { createAnswerOutput } from "./answer-output.ts";
import { attachCommand, toCliFailure } from "./failures.ts";
import {
  createJsonOutput,
  createTimelineOutput,
  failureJson,
  type RunOutput,
  threadCommand,
} from "./run-output.ts";

export interface ThreadTerminalOptions extends SessionOptions {
  readonly command: "harness run" | "harness attach";
  readonly transport: Transport;
  /** The endpoint of a server that others use as well. @default the server ends with its connection */
  readonly endpoint: string | undefined;
  /** The directory of a server that was started for this command. */
  readonly workspace?: string | undefined;
  readonly retryFor: number | undefined;
  readonly threadId: string | undefined;
  readonly interrupts: Interrupts;
  readonly noPolicy?: boolean;
}

/** A thread at the terminal: its turns are followed through a server's connection, which may be lost and come back. */
export class ThreadTerminal {
  /** The thread, once it is known. */
  threadId: string | undefined;
  readonly session: Session;
  readonly output: RunOutput;
  /** Shows everything, and takes nothing for the answer: for a turn before that of the command. */
  readonly timeline: RunOutput;
  readonly #options: ThreadTerminalOptions;
  readonly #questions: Questions;
  readonly #notes: Faults;
  #follower: ThreadFollower | undefined;

  private constructor(options: ThreadTerminalOptions, session: Session) {
    const { command, endpoint, workspace, json = false, interrupts, noPolicy } = options;
    const isShort = session.terminal.columns !== undefined;
    this.#options = options;
    this.threadId = options.threadId;
    this.session = session;
    this.#notes = new Faults(command, { maxLines: 5 });
    this.#questions = new Questions({
      session,
      onCancel: interrupts.interrupt,
      again: (id) =>
        endpoint === undefined
          ? threadCommand(id, endpoint, workspace)(isShort)
          : attachCommand(endpoint, id),
      onError: this.#notes.tell,
      onWatched: json ? noteWatched : undefined,
    });
    const { terminal, answer, view } = session;
    this.timeline = json ? createJsonOutput(answer, noPolicy) : createTimelineOutput(terminal, view);
    this.output = json || !session.isAnswerRead ? this.timeline : createAnswerOutput(answer, this.timeline);
  }

  static async open(options: ThreadTerminalOptions): Promise<ThreadTerminal> {
    return new ThreadTerminal(options, await Session.open(options));
  }

  /** Connects, and lets `use` work; see `withServer`. */
  connect<T>(use: (client: ThreadClient) => Promise<T>): Promise<T> {
    const { transport, version, endpoint, retryFor, interrupts } = this.#options;
    const { spinner, view } = this.session;
    return withServer(
      {
        ...{ transport, endpoint, retryFor, signal: interrupts.signal },
        clientInfo: { name: this.#questions.clientName, version },
        // A follower reads again what it had to drop.
        onError: (error) => {
          if (error.code !== "buffer_full" || !this.#follower?.readsAgain) this.#notes.tell(error);
        },
        onLost: () => {
          spinner?.rest();
          this.#questions.away();
          view.breakLine();
        },
        onBack: () => this.#questions.back(),
        threadId: () => this.threadId,
      },
      use,
    );
  }

  /** What shows a turn or a thread, and answers what waits there. */
  follower(output = this.output): ThreadFollower {
    const ready = () => this.session.ready();
    this.#follower = new ThreadFollower({ ready, output, questions: this.#questions });
    return this.#follower;
  }

  /** Why it ends without a result: said to a program that reads JSON, too. */
  failure(error: unknown): CliError {
    const { command, endpoint, workspace } = this.#options;
    const { threadId } = this;
    const name = command === "harness run" ? "run" : "attach";
    const failure = toCliFailure(error, { command: name, workspace, threadId, endpoint });
    failure.json = failureJson(failure, threadId);
    return failure;
  }

  async end(): Promise<void> {
    await this.session.close();
    this.session.view.breakLine();
    this.#notes.end();
    this.#options.interrupts.dispose();
  }
}

const noteWatched = ({ requestId }: ApprovalRequest): void =>
  note(`harness: ${requestId} waits for an answer. ${watchedText}`);
