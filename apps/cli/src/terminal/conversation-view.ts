import { displayText } from "@harnesskit/wire";
import { type OpenProse, plainProse } from "./prose.ts";
import type { Terminal } from "./terminal.ts";
import { wrapText } from "./text.ts";

/** Shows a conversation at a terminal, line by line. Notes and lines are safe text; messages and prose may be untrusted. */
export class ConversationView {
  protected readonly terminal: Terminal;
  protected readonly openProse: OpenProse;

  /** @param openProse shows what a model says. @default as it is */
  constructor(terminal: Terminal, openProse: OpenProse = plainProse) {
    this.terminal = terminal;
    this.openProse = openProse;
  }

  /** Ends what is open, so that something else can be written. */
  breakLine(): void {}

  line(line: string): void {
    this.breakLine();
    this.terminal.write(`${wrapText(line, this.terminal.columns)}\n`);
  }

  lines(lines: readonly string[]): void {
    for (const line of lines) this.line(line);
  }

  said(line: string): void {
    this.line(`› ${this.terminal.style.bold(displayText(line, { maxLength: 2_000 }))}`);
  }

  note(text: string): void {
    this.line(this.terminal.style.dim(text));
  }

  warn(text: string): void {
    this.line(this.terminal.style.yellow(text));
  }

  /** @param isMarkdown whether it is Markdown. @default false: it is shown as it is */
  prose(text: string, isMarkdown = false): void {
    const open = isMarkdown ? this.openProse : plainProse;
    const prose = open(this.terminal, (word) => word);
    prose.push(text);
    if (prose.end()) this.terminal.write("\n");
  }
}
