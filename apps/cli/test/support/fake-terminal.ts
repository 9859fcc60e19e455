import { createStyle } from "../../src/terminal/style.ts";
import { TextTerminal } from "../../src/terminal/terminal.ts";

/** A terminal that keeps what is written. */
export class FakeTerminal extends TextTerminal {
  readonly style;
  text = "";

  constructor(
    readonly columns: number | undefined = undefined,
    isColoured = false,
  ) {
    super();
    this.style = createStyle(isColoured);
  }

  protected put(text: string): void {
    this.text += text;
  }

  takeBack(lines: number): void {
    this.text = this.text
      .split("\n")
      .slice(0, -lines - 1)
      .join("\n");
  }

  async ready(): Promise<void> {}
}
