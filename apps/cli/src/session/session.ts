import type { HubPlace } from "@harnesskit/hub/place";
import { settleWithin } from "@harnesskit/wire/time";
import { logFailure } from "../cli-error.ts";
import type { HubQuestions } from "../hub/hub-questions.ts";
import { io } from "../io.ts";
import { type Answer, type AskMode, type AskTerminal, askUser, type Question } from "../terminal/asker.ts";
import { keyboard, ownsKeyboard } from "../terminal/keyboard.ts";
import { LineReader } from "../terminal/line-reader.ts";
import { proseFor } from "../terminal/prose.ts";
import { canSpin, Spinner } from "../terminal/spinner.ts";
import { createTerminal, type Terminal } from "../terminal/terminal.ts";
import type { AskedAtHub } from "../timeline/judgements.ts";
import { View } from "../timeline/view.ts";
import type { ViewOptions } from "../timeline/view-options.ts";

/** What shows tools, questions and how a turn ended. Of `harness run`, standard output is the answer alone. */
const shownStream = (command: SessionOptions["command"]): NodeJS.WriteStream =>
  command === "harness run" ? io().stderr : io().stdout;

export interface SessionOptions extends Pick<ViewOptions, "showPrompt" | "showDone" | "policyUse"> {
  readonly command: "harness run" | "harness attach" | "harness chat" | "harness shell";
  readonly version: string;
  /** Show nothing and ask no one: a program reads lines of JSON. @default false */
  readonly json?: boolean;
  /** How approvals are answered. @default "ask" */
  readonly approve?: "ask" | "once" | "reject" | undefined;
  /** What `ask` is without a terminal. */
  readonly withoutTerminal: "no-terminal" | "watch";
  /** Show for a while what is taken back before anything else is written. @default nothing */
  readonly beforeWrite?: ((terminal: Terminal) => () => void) | undefined;
}

/** Where everything is shown, and where the answer goes: the same where a command has one place. */
interface Shown {
  readonly terminal: Terminal;
  readonly answer: Terminal;
}

/** How long a session waits until its questions at a hub are followed. With a slower hub they may be shown late, or not at all. */
const hubStartMs = 1000;

/** An agent at the terminal, whatever protocol it speaks: where it is shown, how the user is asked, and what a hub asks about it. */
export class Session {
  readonly command: SessionOptions["command"];
  readonly version: string;
  readonly terminal: Terminal;
  /** Where the answer goes. */
  readonly answer: Terminal;
  /** A program reads the answer. */
  readonly isAnswerRead: boolean;
  readonly spinner: Spinner | undefined;
  readonly view: View;
  readonly mode: AskMode;
  /** Esc is heard while a turn runs. */
  readonly readsKeys: boolean;
  /** The terminal to ask in; undefined where no user can be asked. */
  readonly askTerminal: AskTerminal | undefined;
  readonly #show: (lines: readonly string[]) => void;
  #running: AbortController | undefined;
  #hub: HubQuestions | undefined;
  #hubOpens: Promise<void> = Promise.resolve();

  private constructor(options: SessionOptions, shown: Shown, openProse: ViewOptions["openProse"]) {
    const { command, version, json = false, showPrompt, showDone, policyUse } = options;
    const { terminal, answer } = shown;
    const { stdin, stdout, stderr } = io();
    const stream = shownStream(command);
    this.command = command;
    this.version = version;
    this.terminal = terminal;
    this.answer = answer;
    this.isAnswerRead = answer.columns === undefined && answer !== terminal;
    this.readsKeys = !json && command !== "harness attach" && ownsKeyboard();
    const hint = this.readsKeys ? "Esc cancels" : undefined;
    const other = stream === stdout ? stderr : stdout;
    this.spinner = json || !canSpin(stream) ? undefined : new Spinner({ stream, other, hint });
    this.view = new View({
      ...{ terminal, spinner: this.spinner, openProse, policyUse, showPrompt, showDone },
      says: this.isAnswerRead ? terminal : answer,
      beforeWrite: options.beforeWrite?.(terminal),
    });
    this.#show = json ? () => {} : (lines) => this.view.lines(lines);
    const output = !json && stdin.isTTY ? [stream, stdout].find(({ isTTY }) => isTTY) : undefined;
    // A question is shown where it is asked, which may be another terminal than the one that shows the rest.
    const show = output === stream ? this.#show : (lines: readonly string[]) => void answer.say(lines);
    this.askTerminal = output && { output, show };
    const { approve = "ask", withoutTerminal } = options;
    this.mode = approve !== "ask" ? approve : this.askTerminal ? "ask" : withoutTerminal;
  }

  static async open(options: SessionOptions): Promise<Session> {
    const answer = createTerminal();
    const stream = shownStream(options.command);
    const terminal = stream === io().stdout ? answer : createTerminal(stream);
    const openProse = options.json ? undefined : await proseFor(terminal, answer);
    return new Session(options, { terminal, answer }, openProse);
  }

  /** Asks the user. Only where {@link mode} is `ask`. */
  ask<Reach extends string = never>(question: Question<Reach>, signal: AbortSignal): Promise<Answer<Reach>> {
    return askUser(question, signal, this.askTerminal ?? { show: this.#show });
  }

  /** Calls `onEscape` for Esc while no question is asked; returns what ends that. Whatever else is typed meanwhile is dropped. */
  hearEscape(onEscape: () => void): () => void {
    if (!this.readsKeys) return () => {};
    const onInterrupt = () => void io().signals.emit("SIGINT", "SIGINT");
    const reader = new LineReader({ onInterrupt, onEscape });
    return () => reader.close();
  }

  /** Lets `work` go on until it is cancelled. */
  async cancellable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const running = new AbortController();
    this.#running = running;
    try {
      return await work(running.signal);
    } finally {
      this.#running = undefined;
    }
  }

  /** Cancels what is {@link cancellable}; false if nothing is. */
  readonly cancel = (): boolean => {
    this.#running?.abort();
    return this.#running !== undefined;
  };

  /** Says something beside what is shown, on standard error. Safe text. */
  readonly note = (line: string): void => {
    this.view.breakLine();
    createTerminal(io().stderr).say(`${this.command}: ${line}`);
  };

  /**
   * Shows what a session asks at a hub, asks the user here too, and shows who answered; in the place of the session that was followed before. Resolves before the
   * first question can be missed. Never rejects.
   *
   * @param onCancel called after Ctrl-C at a question
   */
  async followHub(place: HubPlace | undefined, session: string, onCancel: () => void): Promise<void> {
    await this.closeHub();
    if (place === undefined) return;
    this.#hubOpens = this.#openHub(place, onCancel);
    await this.#hubOpens;
    if (this.#hub === undefined) return;
    const limit = { name: "the hub's questions", timeoutMs: hubStartMs, holdsProcess: false };
    await settleWithin(this.#hub.follow(session), limit).catch(() => {});
  }

  async #openHub(place: HubPlace, onCancel: () => void): Promise<void> {
    const { HubQuestions } = await import("../hub/hub-questions.ts");
    this.#hub = new HubQuestions({
      ...{ place, command: this.command, version: this.version, style: this.terminal.style, onCancel },
      spinner: this.spinner,
      asks: () => this.mode === "ask" && !keyboard().isAwaited,
      askTerminal: this.askTerminal ?? { show: this.#show },
      onError: (error) => logFailure(`${this.command}: the hub's inbox`, error),
    });
  }

  /** Ends what {@link followHub} follows. */
  async closeHub(): Promise<void> {
    await this.#hubOpens;
    await this.#hub?.close();
    this.#hub = undefined;
  }

  /** What was asked at the hub so far; undefined where no hub is followed. */
  get askedAtHub(): AskedAtHub | undefined {
    return this.#hub?.counts;
  }

  /** Settles when the questions that were put are answered. */
  async answered(): Promise<void> {
    await this.#hub?.answered();
  }

  /** Settles when what was written has left, or is taken. */
  async ready(): Promise<void> {
    await this.terminal.ready();
    await this.answer.ready();
  }

  async close(): Promise<void> {
    this.spinner?.dispose();
    await this.closeHub();
  }
}
