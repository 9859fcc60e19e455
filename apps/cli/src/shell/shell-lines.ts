import { chatHelp, parseChatLine } from "../chat/chat-command.ts";
import { LineReader } from "../chat/line-reader.ts";
import { oneLine } from "../terminal/one-line.ts";
import type { ShellApprover } from "./shell-approver.ts";
import { type ShellConversation, shortIdOf } from "./shell-conversation.ts";
import type { ShellView } from "./shell-view.ts";

export interface ShellLinesOptions {
  readonly view: ShellView;
  readonly approver: ShellApprover;
  readonly onInterrupt: () => void;
  /** Called for each line that was taken. */
  readonly onLine: () => void;
}

/** Takes lines of standard input, each a message or a command. */
export class ShellLines {
  readonly #options: ShellLinesOptions;
  #reader: LineReader | undefined;
  #isClosed = false;

  constructor(options: ShellLinesOptions) {
    this.#options = options;
  }

  /** Gives the keyboard up, and forgets what was typed ahead, so that somebody else can ask. */
  readonly giveUp = (): void => {
    if (this.#reader?.isTerminal !== true) return;
    this.#reader.close();
    this.#reader = undefined;
  };

  /** Takes no more lines. */
  close(): void {
    this.#isClosed = true;
    this.#reader?.close();
  }

  /** Until the end of the input, or `/quit`. */
  async follow(conversation: ShellConversation): Promise<void> {
    while (!this.#isClosed) {
      this.#reader ??= new LineReader(this.#options.onInterrupt);
      const reader = this.#reader;
      const line = await reader.next();
      if (line === undefined) return;
      this.#options.onLine();
      if (!reader.isTerminal && line.trim() !== "") this.#options.view.said(line);
      if (!(await this.#take(conversation, line))) return;
    }
  }

  /** Does what a line asks for. False: the user wants to leave. */
  async #take(conversation: ShellConversation, line: string): Promise<boolean> {
    const { view, approver } = this.#options;
    const command = parseChatLine(line);
    switch (command.kind) {
      case "message":
        await conversation.say({ intent: command.text });
        return true;
      case "approve":
      case "reject": {
        const pending = find(conversation, command.id);
        if (typeof pending === "string") {
          view.note(pending);
          return true;
        }
        const reason = command.kind === "reject" ? command.reason : undefined;
        const decision = command.kind === "approve" ? ("approved" as const) : ("refused" as const);
        const reply = { decision, ...(reason === undefined ? {} : { reason }) };
        approver.gave(reply);
        await conversation.answer(pending, reply);
        return true;
      }
      case "pending":
        showPending(conversation, view);
        return true;
      case "help":
        for (const text of chatHelp) view.note(text);
        return true;
      case "unknown":
        view.note(`There is no command ${oneLine(command.word, 80)}. What there is: /help`);
        return true;
      case "nothing":
        return true;
      case "quit":
        return false;
    }
  }
}

/** The question of a name; without one the only one there is. A text says why there is none. */
const find = ({ pending }: ShellConversation, id: string) => {
  const [only] = pending;
  if (only === undefined) return "Nothing waits for an approval.";
  if (id === "") {
    return pending.length === 1 ? only : `Say which: ${pending.map(shortIdOf).join(", ")}`;
  }
  return pending.find((one) => shortIdOf(one) === id) ?? `Nothing waits under ${oneLine(id, 80)}.`;
};

/** Shows what waits, and how it is answered. */
const showPending = ({ pending }: ShellConversation, view: ShellView): void => {
  if (pending.length === 0) view.note("Nothing waits.");
  for (const one of pending) {
    view.pending(one);
    view.note(`  /approve ${shortIdOf(one)}   /reject ${shortIdOf(one)} [REASON]`);
  }
};
