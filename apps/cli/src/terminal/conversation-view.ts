import { displayText } from "@harnesskit/wire";
import { Prose } from "../timeline/text-streams.ts";
import type { Terminal } from "./terminal.ts";
import { wrapText } from "./text.ts";

/** Shows a conversation at a terminal, line by line. Notes and lines are safe text; messages and prose may be untrusted. */
export class ConversationView {
  protected readonly terminal: Terminal;

  constructor(terminal: Terminal) {
    this.terminal = terminal;
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

  prose(text: string): void {
    const prose = new Prose(this.terminal, (word) => word);
    prose.push(text);
    if (prose.end()) this.terminal.write("\n");
  }
}
