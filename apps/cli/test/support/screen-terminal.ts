import stringWidth from "fast-string-width";
import { createStyle } from "../../src/terminal/style.ts";
import { TextTerminal } from "../../src/terminal/terminal.ts";

/** A terminal as its user sees it: wide characters, tabs, wrapped lines, scrolling, and a cursor that goes up and clears. */
export class ScreenTerminal extends TextTerminal {
  readonly style = createStyle(true);
  /** All rows, those that were scrolled away too. */
  readonly rows: string[] = [""];
  #row = 0;
  #column = 0;

  constructor(
    readonly columns: number,
    readonly height: number,
  ) {
    super();
  }

  async ready(): Promise<void> {}

  protected put(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal reads control characters
    for (const [part, count, command] of text.matchAll(/\u001b\[(\d*)([A-Za-z])|[\s\S]/gu)) {
      if (command === "A") this.#row = Math.max(this.#top, this.#row - Number(count));
      else if (command === "J") this.#clearBelow();
      else if (command === undefined) this.#show(part);
    }
  }

  takeBack(lines: number): void {
    this.put(`\r\u001b[${lines}A\u001b[J`);
  }

  /** What the user sees, and what stands above it. */
  get shown(): string[] {
    return this.rows.map((row) => row.trimEnd()).filter((row) => row !== "");
  }

  get #top(): number {
    return Math.max(0, this.rows.length - this.height);
  }

  #clearBelow(): void {
    this.rows.length = this.#row + 1;
    this.rows[this.#row] = (this.rows[this.#row] ?? "").slice(0, this.#column);
  }

  #show(character: string): void {
    if (character === "\r") this.#column = 0;
    else if (character === "\n") this.#newRow();
    else if (character === "\t") for (let n = 8 - (this.#column % 8); n > 0; n--) this.#show(" ");
    else {
      const width = stringWidth(character);
      if (this.#column + width > this.columns) this.#newRow();
      this.rows[this.#row] += character;
      this.#column += width;
    }
  }

  #newRow(): void {
    this.#row++;
    this.#column = 0;
    this.rows[this.#row] ??= "";
  }
}
