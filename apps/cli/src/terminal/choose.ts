import { io } from "../io.ts";
import { ChoiceList } from "./choice-list.ts";
import { quietKeyboard } from "./keyboard.ts";
import { KeyParser } from "./keys.ts";

export interface Choice<T> {
  readonly value: T;
  readonly label: string;
  /** What more there is to say of it. */
  readonly hint?: string | undefined;
  /** A letter that chooses it at once. */
  readonly key?: string | undefined;
}

export interface ChooseOptions<T> {
  readonly message: string;
  readonly choices: readonly Choice<T>[];
  /** What Enter alone chooses. */
  readonly initial: T;
  readonly signal: AbortSignal;
  readonly output: NodeJS.WriteStream;
  /** What Esc does, in words, such as "leave it waiting". @default it does nothing */
  readonly leave?: string | undefined;
  /** Typed text narrows the choices, in place of choosing by digit and letter. @default false */
  readonly isFiltered?: boolean | undefined;
}

/** `left` after Esc, `interrupted` after Ctrl-C and at the end of the input, `aborted` where the signal aborted. */
export type Chosen<T> = { readonly value: T } | "left" | "interrupted" | "aborted";

/** A terminal marks what is pasted, so that nothing of it is a key. */
export const bracketedPaste = { on: "\u001b[?2004h", off: "\u001b[?2004l" };

/**
 * One choice of the user's at the terminal. Nothing counts that was typed before, and nothing that is pasted. The arrow keys stop at the
 * ends; a digit, or a choice's letter, chooses at once.
 */
export const choose = async <T>(options: ChooseOptions<T>): Promise<Chosen<T>> => {
  const { signal, output } = options;
  const quiet = await quietKeyboard(io().stdin, signal);
  if (quiet !== "quiet") return quiet;
  const list = new ChoiceList(options);
  const isDrawn = io().env.TERM !== "dumb";
  return new Promise((resolve) => {
    const { stdin } = io();
    const settle = (chosen: Chosen<T>) => {
      keys.close();
      stdin.off("data", onData);
      stdin.off("end", onEnd);
      signal.removeEventListener("abort", onAbort);
      list.end(typeof chosen === "object" ? chosen.value : undefined);
      if (isDrawn) output.write(bracketedPaste.off);
      stdin.setRawMode(false);
      stdin.pause();
      resolve(chosen);
    };
    const keys = new KeyParser((key) => {
      const chosen = list.press(key);
      if (chosen !== undefined) settle(chosen);
    });
    const onData = (chunk: Buffer | string) => {
      const text = chunk.toString();
      // A terminal that sends whole lines sends what is typed with Enter behind it.
      keys.push(isDrawn ? text : text.replace(/^([^\r\n]+)\r?\n$/u, "$1"));
    };
    const onEnd = () => settle("interrupted");
    const onAbort = () => settle("aborted");
    stdin.on("data", onData);
    stdin.once("end", onEnd);
    signal.addEventListener("abort", onAbort, { once: true });
    if (isDrawn) output.write(bracketedPaste.on);
    list.draw();
    stdin.resume();
  });
};
