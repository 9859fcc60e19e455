import { createStyle, type Terminal } from "../../src/terminal/terminal.ts";

/** A terminal that keeps what is written. */
export class FakeTerminal implements Terminal {
  readonly style;
  text = "";

  constructor(
    readonly columns: number | undefined = undefined,
    isColoured = false,
  ) {
    this.style = createStyle(isColoured);
  }

  write(text: string): void {
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
