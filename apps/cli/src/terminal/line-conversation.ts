import { forgetInterruption, interruptedExitCode, isTerminated, noteInterruption } from "../interruption.ts";
import { io } from "../io.ts";
import type { Session } from "../session/session.ts";
import type { View } from "../timeline/view.ts";
import { type ChatCommand, chatHelp, parseChatLine } from "./chat-line.ts";
import { completeLine } from "./complete-line.ts";
import { LineHistory } from "./line-history.ts";
import { LineReader } from "./line-reader.ts";
import { oneLine, wrapText } from "./text.ts";

const usageColumns = 20;

export type AnswerCommand = Extract<ChatCommand, { kind: "approve" | "reject" }>;

/** A command that one kind of conversation has beside those that all have. */
export interface LineCommand {
  /** With its slash. */
  readonly word: string;
  /** As help shows it: the command with its arguments, and what it does. */
  readonly help: readonly [usage: string, text: string];
  run(argument: string): void | Promise<void>;
}

/** What the lines of a user do. */
export interface LineActions {
  /** @default none */
  readonly commands?: readonly LineCommand[];
  /** Where `@FILE` is looked for. @default nowhere */
  readonly directory?: string | undefined;
  /** The ids that `/approve` and `/reject` can name. */
  pendingIds(): readonly string[];
  say(text: string): Promise<void>;
  answer(command: AnswerCommand): Promise<void>;
  /** Shows what is pending; returns how much it is. */
  showPending(): number | Promise<number>;
}

/**
 * Takes lines of standard input, each a message or a command. The first Ctrl-C cancels what runs; where nothing runs, a terminal's user is told how
 * to leave, and the second one leaves. A third one ends the process. SIGTERM leaves at once.
 */
export class LineConversation {
  readonly isTerminal = io().stdin.isTTY === true && io().stdout.isTTY === true;
  readonly #session: Session;
  readonly #view: View;
  readonly #actions: LineActions;
  readonly #isOneMessage: boolean;
  readonly #history = new LineHistory();
  #reader: LineReader | undefined;
  #interrupts = 0;
  #isClosed = false;
  #isReading = false;
  /** @param isOneMessage the command ends after one message: then Ctrl-C always ends it */
  constructor(session: Session, actions: LineActions, isOneMessage = false) {
    this.#session = session;
    this.#view = session.view;
    this.#actions = actions;
    this.#isOneMessage = isOneMessage;
    io().signals.on("SIGINT", this.#onInterrupt);
  }

  readonly #onInterrupt = (): void => {
    noteInterruption();
    const goesOn = this.isTerminal && !this.#isOneMessage && !isTerminated();
    if (++this.#interrupts > (goesOn ? 2 : 1)) {
      io().exit(interruptedExitCode());
    }
    const isCancelled = this.#session.cancel();
    const isFirst = this.#isReading && this.#interrupts === 1;
    // At a terminal the user goes on after a turn that was cancelled.
    if (!goesOn || (!isCancelled && !isFirst)) {
      this.#stopReading();
      return;
    }
    forgetInterruption();
    if (!isCancelled) this.#view.note("Ctrl-C again, Ctrl-D or /quit leaves.");
  };

  #stopReading(): void {
    this.#isClosed = true;
    this.#reader?.close();
  }

  close(): void {
    io().signals.off("SIGINT", this.#onInterrupt);
    this.#stopReading();
  }

  /** @param ready waited for before each line: what asks the user first. @default nothing */
  async follow(ready: () => Promise<void> | undefined = async () => {}): Promise<void> {
    if (this.isTerminal) await this.#history.load();
    await this.#read(ready);
    await this.#history.saved();
  }

  async #read(ready: () => Promise<void> | undefined): Promise<void> {
    while (!this.#isClosed) {
      await ready();
      this.#reader ??= this.#openReader();
      this.#isReading = true;
      this.#interrupts = 0;
      const line = await this.#reader.next();
      this.#isReading = false;
      if (line === undefined) return;
      this.#interrupts = 0;
      if (!this.isTerminal && line.trim() !== "") this.#view.said(line);
      if (!(await this.#take(parseChatLine(line)))) return;
    }
  }

  #openReader(): LineReader {
    const { commands = [], directory } = this.#actions;
    const words = [
      "/approve",
      "/exit",
      "/help",
      "/pending",
      "/quit",
      "/reject",
      ...commands.map(({ word }) => word),
    ];
    const sources = { commands: words.sort(), ids: () => this.#actions.pendingIds(), directory };
    return new LineReader({
      onInterrupt: this.#onInterrupt,
      onEscape: this.#session.cancel,
      history: this.#history,
      // What was sent ahead answers no question: a message is the next one, and a command is forgotten.
      keepsAhead: (line) => parseChatLine(line).kind === "message",
      complete: (line) => completeLine(line, sources),
    });
  }

  async #take(command: ChatCommand): Promise<boolean> {
    switch (command.kind) {
      case "message":
        await this.#actions.say(command.text);
        return true;
      case "approve":
      case "reject":
        await this.#actions.answer(command);
        return true;
      case "pending":
        if ((await this.#actions.showPending()) === 0) this.#view.note("Nothing waits.");
        return true;
      case "help":
        this.#help();
        return true;
      case "other":
        await this.#other(command);
        return true;
      case "nothing":
        return true;
      case "quit":
        return false;
    }
  }

  #help(): void {
    const all = [...(this.#actions.commands ?? []).map(({ help }) => help), ...chatHelp];
    const { columns } = this.#view;
    const room = columns === undefined ? undefined : columns - usageColumns;
    const lines = all.flatMap(([usage, text]) =>
      wrapText(text, room)
        .split("\n")
        .map((line, at) => `${(at === 0 ? usage : "").padEnd(usageColumns)}${line}`),
    );
    this.#view.lines(lines);
  }

  async #other({ word, argument }: Extract<ChatCommand, { kind: "other" }>): Promise<void> {
    const command = this.#actions.commands?.find((one) => one.word === word);
    if (command !== undefined) await command.run(argument);
    else this.#view.warn(`There is no command ${oneLine(word, 80)}. To list the commands: /help`);
  }
}

/** The pending approval that an id of the user names, or why none is found. `fullIdOf`: its beginning is enough. */
export const findPending = <T>(
  pending: readonly T[],
  id: string,
  idOf: (one: T) => string,
  fullIdOf?: (one: T) => string,
): T | string => {
  if (id === "") {
    const [only] = pending;
    if (only === undefined) return "Nothing waits for an approval.";
    return pending.length === 1 ? only : `Say which: ${pending.map(idOf).join(", ")}`;
  }
  const found =
    pending.find((one) => idOf(one) === id) ?? pending.find((one) => fullIdOf?.(one).startsWith(id));
  return found ?? `Nothing waits under ${oneLine(id, 80)}. To list what waits: /pending`;
};
