import { summarizeResult } from "@harnesskit/approvals";
import type { EventBody, Item, ItemData, ItemOf, Turn } from "@harnesskit/protocol/threads";
import { displayText } from "@harnesskit/wire";
import { type OpenProse, type ProseWriter, plainProse, safeProse } from "../terminal/prose.ts";
import { WorkSigns } from "../terminal/spinner.ts";
import type { Style, Terminal } from "../terminal/terminal.ts";
import { oneLine, toolName, wrapText } from "../terminal/text.ts";
import { blockedLines, changeLines, promptLines, promptText, ranMark } from "./judgements.ts";
import { LogView } from "./log-view.ts";
import { callEnding, errorText, RefusedCalls, resumedText, turnFooter } from "./outcomes.ts";
import type { ViewOptions } from "./view-options.ts";
import { approvalText, summaryLine, toolSubject } from "./words.ts";

type Block = "none" | "prose" | "tool" | "note";

interface Open {
  readonly item: Item;
  readonly view: ProseWriter | LogView | undefined;
  shown: string;
}

/**
 * Shows what an agent does as people read it: the events of a thread, live or from the log, and what a conversation says beside them. What
 * comes in events is shown as safe text; lines, notes and warnings must be safe.
 */
export class View {
  readonly style: Style;
  readonly #options: ViewOptions;
  readonly #terminal: Terminal;
  readonly #says: Terminal;
  readonly #work: WorkSigns;
  readonly #openProse: OpenProse;
  readonly #open = new Map<string, Open>();
  readonly #refused = new RefusedCalls();
  #block: Block = "none";
  #openLine: string | undefined;
  #writing: { readonly itemId: string; readonly to: Terminal } | undefined;

  constructor(options: ViewOptions) {
    const { terminal, says = terminal, spinner, openProse = plainProse } = options;
    this.#options = options;
    this.style = terminal.style;
    this.#openProse = openProse;
    this.#terminal = terminal;
    this.#says = says;
    this.#work = new WorkSigns(spinner);
  }

  get columns(): number | undefined {
    return this.#terminal.columns;
  }

  show(event: EventBody): void {
    this.#refused.observe(event);
    this.#work.observe(event);
    switch (event.type) {
      case "item.started":
      case "item.updated":
        this.#started(event.data.item);
        break;
      case "item.delta":
        this.#streamed(event.data.itemId, event.data.delta);
        break;
      case "item.completed":
        this.#completed(event.data.item);
        break;
      case "turn.completed":
        this.#ended(event.data.turn);
        break;
      case "turn.error":
        this.#ended(event.data.turn, errorText(event.data, this.style));
        break;
      case "thread.forked":
        this.note(`⋯ forked from ${event.data.from.threadId} at event ${event.data.from.seq}`);
        break;
      case "turn.resumed":
        this.note(`⋯ ${resumedText[event.data.reason]}`);
        break;
      case "turn.dequeued":
        this.note(`⋯ a prompt that waited was taken back (${event.data.reason})`);
        break;
    }
  }

  lines(lines: readonly string[]): void {
    this.#begin("tool");
    this.#write(lines);
  }

  note(text: string): void {
    this.lines([this.style.dim(text)]);
  }

  warn(text: string): void {
    this.lines([this.style.yellow(text)]);
  }

  /** What the user wrote, where no terminal has shown it. Untrusted text. */
  said(line: string): void {
    this.#begin("note");
    this.#write([`› ${this.style.bold(displayText(line, { maxLength: 2_000 }))}`]);
  }

  /** A whole message. Untrusted text. @param isMarkdown whether it is Markdown. @default false: it is shown as it is */
  prose(text: string, isMarkdown = false): void {
    this.#begin("prose", this.#says);
    if (!isMarkdown) {
      this.#says.write(`${wrapText(safeProse(text).trim(), this.#says.columns, "")}\n`);
      return;
    }
    const prose = this.#openProse(this.#says, (word) => word);
    prose.push(text);
    if (prose.end()) this.#says.write("\n");
  }

  #write(lines: readonly string[]): void {
    for (const line of lines) this.#terminal.say(line);
  }

  /** Ends a line that is open, so that something else can be written. */
  breakLine(): void {
    this.#options.beforeWrite?.();
    if (this.#openLine !== undefined) this.#terminal.say("");
    this.#writing?.to.write("\n");
    this.#openLine = undefined;
    this.#writing = undefined;
  }

  #begin(block: Block, to = this.#terminal): void {
    this.breakLine();
    const joins = this.#block === "none" || (block === "tool" && this.#block === "tool");
    if (!joins) to.write("\n");
    this.#block = block;
  }

  #started(item: Item): void {
    const open = this.#open.get(item.itemId);
    // A call is shown once, and again only with another input.
    if (item.type === "tool_exec" && item.data && !isSameCall(open?.item, item))
      this.#title(item.itemId, item.data);
    this.#open.set(item.itemId, open ? { ...open, item } : { item, view: this.#viewOf(item), shown: "" });
  }

  #viewOf(item: Item): ProseWriter | LogView | undefined {
    const { style } = this.#terminal;
    if (item.type === "tool_log") return new LogView(this.#terminal, item.data?.channel);
    if (item.type !== "assistant_message") return undefined;
    return this.#openProse(this.#proseTo(item), item.data?.reasoning ? style.dim : (text) => text);
  }

  #proseTo(item: Item): Terminal {
    return item.type === "assistant_message" && !item.data?.reasoning ? this.#says : this.#terminal;
  }

  #title(itemId: string, data: ItemData<"tool_exec">): void {
    const { tool, input } = data;
    const { style, columns } = this.#terminal;
    this.#begin("tool");
    const name = toolName(tool);
    const room = columns === undefined ? 200 : Math.max(20, columns - name.length - 32);
    const subject = oneLine(toolSubject(tool, input), room);
    this.#terminal.write(`${style.cyan("●")} ${style.bold(name)} ${subject}`);
    this.#openLine = itemId;
    const { judgement } = data;
    const changes = changeLines("this call", judgement, judgement?.modified?.requested, input, style);
    if (changes.length === 0) return;
    this.#openLine = undefined;
    this.#terminal.say("");
    this.#write(changes);
  }

  #streamed(itemId: string, delta: string): void {
    const open = this.#open.get(itemId);
    if (!open?.view) return;
    if (!(open.view instanceof LogView)) this.#intoProse(open.item);
    else if (delta !== "") this.#intoLog();
    open.shown += delta;
    open.view.push(delta);
  }

  #intoProse(item: Item): void {
    if (this.#writing?.itemId === item.itemId) return;
    const to = this.#proseTo(item);
    this.#begin("prose", to);
    this.#writing = { itemId: item.itemId, to };
  }

  #intoLog(): void {
    this.breakLine();
    this.#block = "tool";
  }

  #completed(item: Item): void {
    const open = this.#open.get(item.itemId) ?? { item, view: this.#viewOf(item), shown: "" };
    this.#open.delete(item.itemId);
    switch (item.type) {
      case "user_message":
        this.#prompt(item);
        break;
      case "assistant_message":
        this.#message(item, open);
        break;
      case "tool_log":
        this.#log(item, open);
        break;
      case "tool_exec":
        this.#tool(item);
        break;
      case "approval":
        this.#approval(item);
        break;
      case "artifact":
        this.#artifact(item);
        break;
    }
  }

  #prompt({ data }: ItemOf<"user_message">): void {
    if (!data) return;
    const { style } = this.#terminal;
    const { judgement, content } = data;
    const requested = promptText(judgement?.modified?.requested);
    const changes = changeLines("the prompt", judgement, requested, promptText(content), style);
    const { showPrompt = true } = this.#options;
    if (!showPrompt && changes.length === 0) return;
    this.#begin("note");
    this.#write(changes);
    if (!showPrompt) return;
    this.#write(promptLines(content, style));
  }

  #message(item: ItemOf<"assistant_message">, open: Open): void {
    const { data } = item;
    const text = data?.text ?? "";
    if (text.trim() === "") return;
    if (data?.summary) this.#write([summaryLine(data.summary, this.#terminal.style)]);
    // Where deltas were lost, the whole text is shown once more.
    const prose = text.startsWith(open.shown) ? open.view : this.#viewOf(open.item);
    if (prose === undefined || prose instanceof LogView) return;
    if (prose !== open.view) this.breakLine();
    this.#intoProse(item);
    prose.push(text.startsWith(open.shown) ? text.slice(open.shown.length) : text);
    prose.end();
    this.breakLine();
    if (data?.truncated)
      this.#write([this.#terminal.style.dim("  … the message was cut here by the server")]);
  }

  #log({ data }: ItemOf<"tool_log">, open: Open): void {
    if (!data || !(open.view instanceof LogView) || data.text === "") return;
    this.#intoLog();
    const rest = data.text.startsWith(open.shown) ? data.text.slice(open.shown.length) : "";
    open.view.push(rest);
    open.view.end(data.truncated === true);
  }

  #tool({ itemId, data }: ItemOf<"tool_exec">): void {
    if (!data) return;
    const { style } = this.#terminal;
    const isShort = data.status === "succeeded";
    const ending =
      callEnding({ ...data, message: data.error }, style) + (isShort ? ranMark(data.judgement, style) : "");
    const summary = isShort ? summarizeResult(data.output) : "";
    if (this.#openLine === itemId && isShort) {
      this.#terminal.say(`${summary === "" ? "" : style.dim(`, ${summary}`)} ${ending}`);
    } else {
      this.breakLine();
      this.#write([`  ${ending}${summary === "" ? "" : style.dim(` · ${summary}`)}`]);
      if (data.status === "blocked") this.#write(blockedLines(data, style, this.#options.policyUse));
    }
    this.#openLine = undefined;
    this.#block = "tool";
  }

  #approval({ data }: ItemOf<"approval">): void {
    if (!data) return;
    const { style } = this.#terminal;
    this.breakLine();
    this.#write([`  ${style.yellow("?")} ${style.dim(approvalText(data))}`]);
    this.#block = "tool";
  }

  #artifact({ data }: ItemOf<"artifact">): void {
    if (!data) return;
    const place = oneLine(data.path ?? data.uri ?? "", 200);
    this.lines([`${this.style.cyan("◆")} ${oneLine(data.kind, 40)} ${place} (${data.sizeBytes} bytes)`]);
  }

  #ended(turn: Turn, error?: string): void {
    this.#open.clear();
    const { showDone = true } = this.#options;
    const footer = turnFooter({ turn, error, refused: this.#refused, showDone }, this.style);
    if (footer === undefined) this.breakLine();
    else {
      this.#begin("note");
      this.#write([footer]);
    }
  }
}

const isSameCall = (one: Item | undefined, { data }: ItemOf<"tool_exec">): boolean =>
  one?.type === "tool_exec" && JSON.stringify(one.data?.input) === JSON.stringify(data?.input);
