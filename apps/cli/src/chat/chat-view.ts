import { summarizeResult } from "@harnesskit/approvals";
import { type ChatProgress, failureOfText } from "@harnesskit/chat-harness/ai-sdk";
import type { ChatMessage, ChatTurnOutcome } from "@harnesskit/protocol/chat";
import { summarySize } from "@harnesskit/wire/replay";
import { ConversationView } from "../terminal/conversation-view.ts";
import type { OpenProse, ProseWriter } from "../terminal/prose.ts";
import { modelLabel, type Spinner, toolLabel } from "../terminal/spinner.ts";
import type { Paint, Terminal } from "../terminal/terminal.ts";
import { oneLine, toolName, wrapText } from "../terminal/text.ts";
import { type BlockedCall, blockedLines, useInHub } from "../timeline/judgements.ts";
import { callEnding, conversationEnd, errorWord, RefusedCalls } from "../timeline/outcomes.ts";
import { toolSubject } from "../timeline/tool-title.ts";

type ProseKind = "text" | "thinking";

const plain: Paint = (text) => text;

/** Shows a conversation as people read it. Everything that comes from a model, a tool or a store is shown as safe text. */
export class ChatView extends ConversationView {
  readonly #spinner: Spinner | undefined;
  #prose: { readonly kind: ProseKind; readonly writer: ProseWriter } | undefined;
  #openCall: string | undefined;
  /** What is said of a call that the policy blocked, below its end. */
  readonly #blocked = new Map<string, readonly string[]>();
  /** Of the turn that is shown. */
  readonly #refused = new RefusedCalls();
  #hasSpoken = false;

  /** @param spinner shows that a tool or the model works */
  constructor(terminal: Terminal, spinner?: Spinner, openProse?: OpenProse) {
    super(terminal, openProse);
    this.#spinner = spinner;
  }

  begin(): void {
    this.#hasSpoken = false;
    this.#spinner?.work(modelLabel);
  }

  rest(): void {
    this.#spinner?.rest();
  }

  /** The policy blocks a call, whose result comes. */
  blocks(call: BlockedCall, id: string): void {
    this.#blocked.set(id, blockedLines(call, this.terminal.style, useInHub));
  }

  progress(progress: ChatProgress): void {
    switch (progress.type) {
      case "text":
      case "thinking":
        this.#speak(progress.type, progress.delta);
        return;
      case "tool_started": {
        const { call, input } = progress;
        this.#title(call.name, input);
        this.#openCall = call.id;
        this.#spinner?.work(toolLabel(call.name));
        return;
      }
      case "result":
        this.#result(progress.call.id, progress.call.name, progress.content);
        this.#spinner?.work(modelLabel);
        return;
      case "call":
        return;
      case "model_failed":
        if (progress.isRetried) this.warn(`${oneLine(progress.reason, 1_000)}; it is asked again`);
        return;
      case "summarised":
        this.note(`${summarySize(progress)} before this are no longer given to the model, but their summary`);
        return;
      case "model_ended":
        this.breakLine();
        if (progress.reason === "length") this.warn("(the answer was cut at the model's limit)");
    }
  }

  #speak(kind: ProseKind, delta: string): void {
    if (this.#prose?.kind !== kind) {
      this.breakLine();
      const paint = kind === "thinking" ? this.terminal.style.dim : plain;
      this.#prose = { kind, writer: this.openProse(this.terminal, paint) };
    }
    if (kind === "text") this.#hasSpoken = true;
    this.#prose.writer.push(delta);
  }

  #title(name: string, input: Readonly<Record<string, unknown>>): void {
    this.breakLine();
    const { style, columns } = this.terminal;
    const tool = toolName(name);
    const room = columns === undefined ? 200 : Math.max(20, columns - tool.length - 32);
    this.terminal.write(`${style.cyan("●")} ${style.bold(tool)} ${oneLine(toolSubject(name, input), room)}`);
  }

  #result(id: string, name: string, content: string): void {
    const { style } = this.terminal;
    const failure = failureOfText(content);
    const isOpen = this.#openCall === id;
    this.#openCall = undefined;
    if (failure === undefined) {
      const summary = summarizeResult(content);
      const said = summary === "" ? "" : style.dim(`, ${summary}`);
      this.terminal.write(isOpen ? `${said} ${style.green("✓")}\n` : "");
      return;
    }
    const end = conversationEnd(failure);
    this.#refused.add(end);
    const what = isOpen ? "\n" : `${style.cyan("●")} ${style.bold(toolName(name))}\n`;
    const ending = wrapText(`  ${callEnding(end, style)}`, this.terminal.columns);
    this.terminal.write(`${what}${ending}\n`);
    this.lines(this.#blocked.get(id) ?? []);
    this.#blocked.delete(id);
  }

  override breakLine(): void {
    const isOpen = this.#prose?.writer.end() === true || this.#openCall !== undefined;
    this.#prose = undefined;
    this.#openCall = undefined;
    if (isOpen) this.terminal.write("\n");
  }

  ended(turn: ChatTurnOutcome): void {
    this.rest();
    this.breakLine();
    if (turn.outcome === "errored") this.#failed(turn);
    else if (turn.outcome === "completed" && !this.#hasSpoken) this.note("(no answer)");
    if (turn.outcome === "suspended") return;
    const refused = this.#refused.line(this.terminal.style);
    this.#refused.clear();
    if (refused !== undefined) this.line(refused);
  }

  #failed({ reply, error_category: category }: Extract<ChatTurnOutcome, { outcome: "errored" }>): void {
    const { style } = this.terminal;
    const why = category === undefined ? "" : style.dim(` (${oneLine(category, 80)})`);
    this.line(`${style.red("✗")} ${errorWord(category)}: ${oneLine(reply.content, 1_000)}${why}`);
  }

  showEnded(turn: ChatTurnOutcome): void {
    this.begin();
    if (turn.outcome === "completed") for (const message of turn.replies) this.#message(message);
    this.ended(turn);
  }

  #message(message: ChatMessage): void {
    if (message.role === "tool") {
      const failure = failureOfText(message.content);
      if (failure !== undefined)
        this.line(`  ${this.terminal.style.yellow("✗")} ${oneLine(failure.message, 300)}`);
      return;
    }
    if (message.role !== "assistant") return;
    const { content = "" } = message;
    const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    for (const block of blocks)
      if (block.type === "text" && block.text !== "") this.#speak("text", block.text);
    this.breakLine();
  }
}
