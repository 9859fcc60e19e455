import type { ItemData } from "@harnesskit/protocol/threads";
import type { Terminal } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";

const labels = { log: "log", status: "status", partial_result: "so far" } as const;

const firstLines = 5;
const lastLines = 3;
const maxLineChars = 2_000;
const maxLineWidth = 400;

/** Shows the output of one stream of a tool: indented, dimmed, as safe text, its middle left out where it is long. */
export class LogView {
  readonly #terminal: Terminal;
  #partial = "";
  #lines = 0;
  #last: string[] = [];

  readonly #label: string;

  /** @param channel what the lines are, where they are not what the tool printed */
  constructor(terminal: Terminal, channel?: ItemData<"tool_log">["channel"]) {
    this.#terminal = terminal;
    this.#label = channel === undefined ? "" : `${labels[channel]}: `;
  }

  push(text: string): void {
    const parts = text.split("\n");
    const rest = parts.pop() ?? "";
    for (const part of parts) {
      this.#line(this.#partial + part);
      this.#partial = "";
    }
    this.#partial = (this.#partial + rest).slice(0, maxLineChars);
  }

  end(truncated: boolean): void {
    if (this.#partial !== "") this.#line(this.#partial);
    this.#partial = "";
    const hidden = this.#lines - firstLines - this.#last.length;
    if (hidden > 0) this.#write(this.#terminal.style.dim(`  … ${hidden} more lines`));
    for (const line of this.#last) this.#show(line);
    if (truncated) this.#write(this.#terminal.style.dim("  … the log was cut here by the server"));
    this.#last = [];
  }

  #line(line: string): void {
    this.#lines++;
    if (this.#lines <= firstLines) this.#show(line);
    else {
      this.#last.push(line.slice(0, maxLineChars));
      if (this.#last.length > lastLines) this.#last.shift();
    }
  }

  #show(line: string): void {
    const { columns } = this.#terminal;
    const width = columns === undefined ? maxLineWidth : columns - 5 - this.#label.length;
    const text = oneLine(line.slice(0, maxLineChars).replace(/\r$/, "").replaceAll("\t", "    "), width);
    this.#write(this.#terminal.style.dim(`  │ ${this.#label}${text}`.trimEnd()));
  }

  #write(text: string): void {
    this.#terminal.say(text);
  }
}
