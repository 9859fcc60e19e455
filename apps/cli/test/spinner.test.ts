import { createManualClock } from "@harnesskit/wire/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canSpin, Spinner } from "../src/terminal/spinner.ts";

/** A terminal of one line that scrolls: what each line shows, with what the spinner uses to move about. */
class Screen {
  readonly isTTY = true;
  lines = [""];
  #column = 0;
  #saved = 0;

  constructor(readonly columns = 40) {}

  write(text: string): boolean {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what moves the cursor are escape sequences.
    for (const part of text.match(/\u001b7|\u001b8|\u001b\[K|\n|[^\u001b\n]/gu) ?? []) this.#take(part);
    return true;
  }

  #take(part: string): void {
    const line = this.lines.at(-1) ?? "";
    if (part === "\u001b7") this.#saved = this.#column;
    else if (part === "\u001b8") this.#column = this.#saved;
    else if (part === "\u001b[K") this.#show(line.slice(0, this.#column));
    else if (part === "\n") {
      this.lines.push("");
      this.#column = 0;
    } else {
      this.#show(line.slice(0, this.#column) + part + line.slice(this.#column + 1));
      this.#column++;
    }
  }

  #show(line: string): void {
    this.lines[this.lines.length - 1] = line;
  }
}

const setUp = (columns?: number) => {
  const clock = createManualClock();
  const screen = new Screen(columns);
  const other = new Screen();
  other.write = (text) => screen.write(text);
  const spinner = new Spinner({ stream: screen as never, other: other as never, clock });
  return { clock, screen, other, spinner };
};

const advance = (clock: ReturnType<typeof createManualClock>, ms: number) => {
  for (let passed = 0; passed < ms; passed += 100) clock.advance(100);
};

describe("the spinner", () => {
  it("shows behind an open line what works and for how long, and is gone when the line goes on", () => {
    const { clock, screen, spinner } = setUp();
    screen.write("● bash npm test");
    spinner.work("running");
    advance(clock, 200);
    expect(screen.lines).toEqual(["● bash npm test"]);
    advance(clock, 3000);
    expect(screen.lines[0]).toMatch(/^● bash npm test [⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] running 3 s$/);
    screen.write(" ✓\n");
    expect(screen.lines).toEqual(["● bash npm test ✓", ""]);
    advance(clock, 62_000);
    expect(screen.lines[1]).toMatch(/^. running 1 min 5 s$/);
    spinner.rest();
    expect(screen.lines).toEqual(["● bash npm test ✓", ""]);
    spinner.dispose();
  });

  it("makes room for what another stream writes to the same terminal", () => {
    const { clock, screen, other, spinner } = setUp();
    spinner.work("working");
    advance(clock, 1000);
    other.write("harness: a note\n");
    expect(screen.lines).toEqual(["harness: a note", ""]);
    spinner.dispose();
  });

  it("is not shown where the line has no room for it", () => {
    const { clock, screen, spinner } = setUp(20);
    screen.write("a line of 18 chars");
    spinner.work("working");
    advance(clock, 2000);
    expect(screen.lines).toEqual(["a line of 18 chars"]);
    spinner.dispose();
  });

  it("leaves every line as it was written, whatever is written when", () => {
    const step = fc.oneof(
      fc.constant("work"),
      fc.constant("rest"),
      fc.integer({ min: 1, max: 9 }),
      fc.stringMatching(/^[a-z ]{0,12}\n?$/).map((text) => ({ text })),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { clock, screen, spinner } = setUp();
        const plain = new Screen();
        for (const one of steps) {
          if (one === "work") spinner.work("working");
          else if (one === "rest") spinner.rest();
          else if (typeof one === "number") advance(clock, one * 100);
          else {
            screen.write(one.text);
            plain.write(one.text);
          }
        }
        spinner.dispose();
        expect(screen.lines).toEqual(plain.lines);
        screen.write("after");
        plain.write("after");
        expect(screen.lines).toEqual(plain.lines);
      }),
    );
  });

  it("is for a terminal that can move its cursor, with and without colours", () => {
    expect(canSpin({ isTTY: true }, { TERM: "xterm" })).toBe(true);
    expect(canSpin({ isTTY: true }, { TERM: "xterm", NO_COLOR: "1" })).toBe(true);
    expect(canSpin({ isTTY: true }, { TERM: "dumb" })).toBe(false);
    expect(canSpin({ isTTY: false }, { TERM: "xterm" })).toBe(false);
  });
});
