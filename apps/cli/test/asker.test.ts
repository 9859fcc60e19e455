import { EventEmitter } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { processIo, withIo } from "../src/io.ts";
import { type AlwaysChoice, type Answer, askUser } from "../src/terminal/asker.ts";
import { choose } from "../src/terminal/choose.ts";
import { createTerminal } from "../src/terminal/terminal.ts";

const [up, down, enter, esc, ctrlC] = ["\u001b[A", "\u001b[B", "\r", "\u001b", "\u0003"];

class Keyboard extends PassThrough {
  readonly isTTY = true;
  setRawMode(): void {}
}

class Screen extends Writable {
  readonly isTTY = true;
  readonly columns = 60;
  readonly rows = 24;
  raw = "";

  override _write(chunk: unknown, _: unknown, done: () => void): void {
    this.raw += String(chunk);
    done();
  }

  get text(): string {
    return stripVTControlCharacters(this.raw);
  }

  async sees(what: RegExp): Promise<void> {
    await vi.waitFor(() => expect(this.text).toMatch(what), { interval: 5, timeout: 5000 });
  }
}

const begin = <T>(work: (screen: NodeJS.WriteStream) => Promise<T>, env: NodeJS.ProcessEnv = {}) => {
  const [keyboard, screen] = [new Keyboard(), new Screen()];
  const output = screen as unknown as NodeJS.WriteStream;
  const stdin = keyboard as unknown as NodeJS.ReadStream;
  const io = { ...processIo, stdin, stdout: output, stderr: output, env, signals: new EventEmitter() };
  const answer = withIo(io, () => work(output));
  return { keyboard, screen, answer };
};

const always: readonly AlwaysChoice<"directory">[] = [
  { reach: "directory", label: "Always", hint: "for exactly this, in /work/a/long/place/of/the/project" },
];

const ask = (env?: NodeJS.ProcessEnv, canWait = true, signal = new AbortController().signal) =>
  begin(
    (output): Promise<Answer<"directory">> =>
      askUser({ lines: ["bash: echo hi"], always, canWait }, signal, {
        output,
        show: (lines) => createTerminal(output).write(`${lines.join("\n")}\n`),
      }),
    env,
  );

const approve = { decision: "approve" };
const reject = { decision: "reject" };

describe("a question at the terminal", () => {
  it.each<[string, string[], unknown]>([
    ["the end of the arrow keys' way down", [down, down, down, down, up, enter], reject],
    ["the end of their way up", [up, up, up, up, up, enter], approve],
    ["one up from No", [up, enter], { ...approve, always: "directory" }],
    ["Enter alone", [enter], reject],
    ["y", ["y"], approve],
    ["n", ["n"], reject],
    ["a letter and Enter that come together, as over a slow network", ["y\r"], approve],
    ["a digit and a line's end that come together", ["3\n"], reject],
    ["the digit of a choice", ["2"], { ...approve, always: "directory" }],
    ["Esc", [esc], "later"],
    ["Alt with Enter, which is another key than Esc, then n", [`${esc}\r`, "n"], reject],
    ["Ctrl-C", [ctrlC], "interrupted"],
    ["letters and digits that choose nothing, then Enter", ["k", "j", "7", enter], reject],
    ["a paste of a tab and a letter, which no terminal marks, then n", ["\ty", "n"], reject],
    ["a paste that the terminal marks, then y", ["\u001b[200~yes\nplease\u001b[201~", "y"], approve],
    ["a marked paste that comes in parts", ["\u001b[200~yes", "\n", "\u001b[201~", "n"], reject],
    ["text that comes at once, then y", ["no way\r", "yy\r", "y"], approve],
    ["an arrow key that comes in parts", [up, esc, "[A", enter], approve],
  ])("is answered by %s", async (_, typed, answer) => {
    const question = ask();
    await question.screen.sees(/Esc: leave it waiting/);
    for (const key of typed) {
      question.keyboard.write(key);
      await new Promise(setImmediate);
    }
    expect(await question.answer).toEqual(answer);
  });

  it("takes the reason of a refusal", async () => {
    const { screen, keyboard, answer } = ask();
    await screen.sees(/Allow it\?/);
    keyboard.write("4");
    await screen.sees(/Why not\?/);
    keyboard.write("use make\r");
    expect(await answer).toEqual({ ...reject, reason: "use make" });
  });

  it("shows the choices with what they cover, and which keys work", async () => {
    const { screen, keyboard, answer } = ask();
    await screen.sees(/Allow it\?/);
    expect(screen.text).toContain(`bash: echo hi
Allow it?
  1 Yes, once
  2 Always
    for exactly this, in /work/a/long/place/of/the/project
› 3 No
  4 No, and say why
  ↑ ↓ and Enter; 1–4, y, n; Esc: leave it waiting
`);
    keyboard.write("y");
    await answer;
    expect(screen.text).toMatch(/\rAllow it\? Yes, once\n$/);
  });

  it.each([{}, { TERM: "dumb" }])("shows a choice as one harmless line (%o)", async (env) => {
    const choices = [
      { value: 1, label: "a\n  2 No\u001b[2J\u202e", hint: "b\n\u001b[8m" },
      { value: 2, label: "No" },
    ];
    const { signal } = new AbortController();
    const { screen, keyboard, answer } = begin(
      (output) => choose({ message: "Which\n?", choices, initial: 2, signal, output }),
      env,
    );
    await screen.sees(/No\n/);
    expect(screen.text).toMatch(
      /Which⏎ \?\n.*1 a⏎ {3}2 No⟨U\+001B⟩\[2J⟨U\+202E⟩\s+\(?b⏎ ⟨U\+001B⟩\[8m\)?\n.*2 No\n/,
    );
    expect(screen.raw).not.toMatch(/\[2J\u202e|\u202e/);
    keyboard.write("1");
    await new Promise(setImmediate);
    keyboard.write(enter);
    expect(await answer).toEqual({ value: 1 });
  });

  it("that cannot wait is not left by Esc", async () => {
    const { screen, keyboard, answer } = ask({}, false);
    await screen.sees(/1–4, y, n\n/);
    keyboard.write(esc);
    keyboard.write(`${esc}[A`);
    keyboard.write(enter);
    expect(await answer).toMatchObject(reject);
  });

  it("leaves nothing of its choices where it is answered elsewhere", async () => {
    const abort = new AbortController();
    const { screen, answer } = ask({}, true, abort.signal);
    await screen.sees(/Allow it\?/);
    abort.abort();
    expect(await answer).toBeUndefined();
    expect(screen.raw.endsWith("\u001b[7A\u001b[J\u001b[?2004l")).toBe(true);
  });

  it("writes no colour with NO_COLOR, after Ctrl-C neither", async () => {
    const { screen, keyboard, answer } = ask({ NO_COLOR: "1" });
    await screen.sees(/Allow it\?/);
    keyboard.write(down);
    keyboard.write(ctrlC);
    expect(await answer).toBe("interrupted");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
    expect(screen.raw).not.toMatch(/\u001b\[[\d;]*m/);
  });
});

describe("a question on a terminal that cannot move its cursor", () => {
  it.each<[string, string[], unknown]>([
    ["a key", ["y"], approve],
    ["a key that comes as a line, as in a shell of Emacs", ["y\n"], approve],
    ["a digit that does", ["2\n"], { ...approve, always: "directory" }],
    ["Enter alone", ["\n"], reject],
    ["lines that come at once, which choose nothing, then y", ["y\nplease do\n", "yes\n", "y\n"], approve],
  ])("is answered by %s, and moves nothing", async (_, typed, answer) => {
    const { screen, keyboard, answer: given } = ask({ TERM: "dumb" });
    await screen.sees(/Allow it\?/);
    for (const line of typed) {
      keyboard.write(line);
      await new Promise(setImmediate);
    }
    expect(await given).toEqual(answer);
    expect(screen.raw).not.toContain("\u001b");
  });

  it("is narrowed by what is typed, where there are many choices", async () => {
    const choices = ["first", "second", "third"].map((value) => ({ value, label: value }));
    const { signal } = new AbortController();
    const { keyboard, screen, answer } = begin(
      (output) => choose({ message: "Which?", choices, initial: "first", isFiltered: true, signal, output }),
      { TERM: "dumb" },
    );
    await screen.sees(/type to search/);
    for (const line of ["thi\n", "\n"]) {
      keyboard.write(line);
      await new Promise(setImmediate);
    }
    expect(await answer).toEqual({ value: "third" });
  });
});

describe("a choice of one of many", () => {
  const choices = ["read README.md", "list files", "run tests"].map((label) => ({ value: label, label }));
  const pickOne = () =>
    begin((output) =>
      choose({
        ...{ message: "Which thread?", choices, initial: "read README.md", output, isFiltered: true },
        ...{ signal: new AbortController().signal, leave: "choose none" },
      }),
    );

  it.each<[string, string[], unknown]>([
    ["what is typed", ["t", "e", "s", enter], { value: "run tests" }],
    ["what is left of it after Backspace", ["l", "i", "x", "\u007f", enter], { value: "list files" }],
    ["nothing where it is left", [esc], "left"],
    ["the first, after Esc has dropped what was typed", ["t", "e", esc, enter], { value: "read README.md" }],
  ])("is narrowed by %s", async (_, typed, chosen) => {
    const { screen, keyboard, answer } = pickOne();
    await screen.sees(/type to search/);
    for (const key of typed) {
      const before = screen.raw.length;
      keyboard.write(key);
      if (key === esc && typed.length > 1)
        await vi.waitFor(() => expect(screen.raw.length).toBeGreaterThan(before));
      else await new Promise(setImmediate);
    }
    expect(await answer).toEqual(chosen);
  });
});
