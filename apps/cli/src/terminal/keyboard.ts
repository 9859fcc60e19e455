import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { select } from "@clack/prompts";
import { io } from "../io.ts";
import { createTerminal } from "./terminal.ts";
import { wrapText } from "./text.ts";

/** Standard input where it is a terminal. */
export type Keyboard = Readable & { setRawMode(isRaw: boolean): unknown };

const quietMs = 200;

const ctrlC = "\u0003";

/**
 * Throws away what was typed, until nothing came for a moment. `quiet`: the keyboard stays in raw mode, and what is
 * typed from now on is for the next reader. `interrupted`: Ctrl-C was pressed. `aborted`: the signal aborted.
 */
export const quietKeyboard = (
  keyboard: Keyboard,
  signal: AbortSignal,
): Promise<"quiet" | "interrupted" | "aborted"> =>
  new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    let lastLook: NodeJS.Immediate | undefined;
    const settle = (how: "quiet" | "interrupted" | "aborted") => {
      clearTimeout(timer);
      clearImmediate(lastLook);
      keyboard.off("data", onData);
      keyboard.off("end", onQuiet);
      signal.removeEventListener("abort", onAbort);
      if (how !== "quiet") {
        keyboard.setRawMode(false);
        keyboard.pause();
      }
      resolve(how);
    };
    const onQuiet = () => settle("quiet");
    const onAbort = () => settle("aborted");
    const wait = () => {
      clearTimeout(timer);
      clearImmediate(lastLook);
      // In a process that was held up, the timer can be due before what was typed is read.
      timer = setTimeout(() => {
        lastLook = setImmediate(onQuiet);
      }, quietMs);
    };
    const onData = (typed: Buffer | string) => {
      if (typed.toString().includes(ctrlC)) settle("interrupted");
      else wait();
    };
    if (signal.aborted) {
      resolve("aborted");
      return;
    }
    signal.addEventListener("abort", onAbort, { once: true });
    keyboard.once("end", onQuiet);
    // What was typed as a line that has no end yet can be read in raw mode only.
    keyboard.setRawMode(true);
    keyboard.on("data", onData);
    keyboard.resume();
    wait();
  });

type Choices<T> = Parameters<typeof select<T>>[0]["options"];

/** What is asked about, and how it is shown. */
export interface ShownQuestion {
  readonly lines: readonly string[];
  readonly show: (lines: readonly string[]) => void;
}

export interface AskOptions {
  /** Shown first, screen by screen: who does not come to its end cannot allow it. @default it was shown before */
  readonly shown?: ShownQuestion | undefined;
  /** @default "Allow it?" */
  readonly message?: string | undefined;
  /** The terminal. @default standard output */
  readonly output?: NodeJS.WriteStream | undefined;
}

/** The same on a terminal that cannot move its cursor. What is no number of a choice is the initial one. */
const chooseByNumber = <T>(
  message: string,
  options: Choices<T>,
  initialValue: T,
  signal: AbortSignal,
  output: NodeJS.WriteStream,
): Promise<T | undefined> =>
  new Promise((resolve) => {
    const reader = createInterface({ input: io().stdin, output });
    const numbered = options.map(({ label, hint }, at) => `  ${at + 1} ${label}${hint ? ` (${hint})` : ""}`);
    const usual = options.findIndex(({ value }) => value === initialValue) + 1;
    const onAbort = () => reader.close();
    signal.addEventListener("abort", onAbort, { once: true });
    reader.once("close", () => {
      signal.removeEventListener("abort", onAbort);
      resolve(undefined);
    });
    reader.question(`${message}\n${numbered.join("\n")}\nNumber (Enter: ${usual}): `, (line) => {
      const chosen = /^\d+$/.test(line.trim()) ? options[Number(line) - 1] : undefined;
      resolve(chosen === undefined ? initialValue : chosen.value);
      reader.close();
    });
  });

/** One choice; undefined after Ctrl-C, and when the signal aborts. Nothing counts that was typed before. */
export const choose = async <T>(
  message: string,
  options: Choices<T>,
  initialValue: T,
  signal: AbortSignal,
  output: NodeJS.WriteStream,
): Promise<T | undefined> => {
  if ((await quietKeyboard(io().stdin, signal)) !== "quiet") return undefined;
  if (io().env.TERM === "dumb") return chooseByNumber(message, options, initialValue, signal, output);
  const { isCancel, select, settings } = await import("@clack/prompts");
  // Only arrow keys move the choice: with h, j, k and l a line that was typed for something else could be a yes.
  // Esc answers nothing, in every command: Ctrl-C leaves a question.
  for (const key of ["h", "j", "k", "l", "escape"]) settings.aliases.delete(key);
  const answer = await select<T>({ message, options, initialValue, showInstructions: false, signal, output });
  return isCancel(answer) ? undefined : answer;
};

/** Lines of a screen that a choice takes. */
const choiceRows = 6;
const minRows = 5;

/** Shows a question to its end. False where the user stopped before; undefined after Ctrl-C, and when the signal aborts. */
const showToEnd = async (
  { lines, show }: ShownQuestion,
  signal: AbortSignal,
  output: NodeJS.WriteStream,
): Promise<boolean | undefined> => {
  const { columns } = createTerminal(output);
  const whole = wrapText(lines.join("\n"), columns).split("\n");
  const rows = Math.max(minRows, (output.rows || 24) - choiceRows);
  for (let at = 0; ; ) {
    show(whole.slice(at, at + rows));
    at += rows;
    if (at >= whole.length) return true;
    const message = `${at} of ${whole.length} lines are shown.`;
    const choices = [
      { value: true, label: "Show more" },
      { value: false, label: "No: do not allow it" },
    ];
    const goesOn = await choose<boolean>(message, choices, true, signal, output);
    if (goesOn !== true) return goesOn;
  }
};

/**
 * The user's answer to a request for approval; undefined after Ctrl-C, and when the signal aborts. An answer is for what was
 * shown: nothing counts that was typed before.
 */
export const askApproval = async <T>(
  options: Choices<T>,
  refusal: T,
  signal: AbortSignal,
  { shown, message = "Allow it?", output = io().stdout }: AskOptions = {},
): Promise<T | undefined> => {
  const isSeen = shown === undefined ? true : await showToEnd(shown, signal, output);
  if (isSeen === undefined) return undefined;
  return isSeen ? choose(message, options, refusal, signal, output) : refusal;
};
