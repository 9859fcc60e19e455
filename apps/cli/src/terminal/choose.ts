import { io } from "../io.ts";
import { ChoiceList } from "./choice-list.ts";
import { keyboard } from "./keyboard.ts";
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

/** What was typed before a question does not count: it is over when nothing came for so long. */
const quietMs = 200;
const ctrlC = "\u0003";

/**
 * One choice of the user's at the terminal. Nothing counts that was typed before, and nothing that is pasted. The arrow keys stop at the
 * ends; a digit, or a choice's letter, chooses at once.
 */
export const choose = <T>(options: ChooseOptions<T>): Promise<Chosen<T>> => {
  const { signal } = options;
  const list = new ChoiceList(options);
  // What is typed comes with Enter behind it from a terminal that sends whole lines, and a key does over a slow network.
  const typedLine = io().env.TERM === "dumb" ? /^([^\r\n]+)[\r\n]+$/u : /^(\P{Cc})[\r\n]+$/u;
  return new Promise((resolve) => {
    if (signal.aborted) return resolve("aborted");
    let keys: KeyParser | undefined;
    let timer: NodeJS.Timeout | undefined;
    let lastLook: NodeJS.Immediate | undefined;
    const settle = (chosen: Chosen<T>) => {
      clearTimeout(timer);
      clearImmediate(lastLook);
      keys?.close();
      signal.removeEventListener("abort", onAbort);
      list.end(typeof chosen === "object" ? chosen.value : undefined);
      close();
      resolve(chosen);
    };
    const onAbort = () => settle("aborted");
    const put = () => {
      keys = new KeyParser((key) => {
        // In the background the question stops the job: nothing goes on without its answer.
        if (key.name === "suspend") {
          list.leave();
          return keyboard().suspend(
            () => list.draw(),
            () => true,
          );
        }
        const chosen = list.press(key);
        if (chosen !== undefined) settle(chosen);
      });
      list.draw();
    };
    const wait = () => {
      clearTimeout(timer);
      clearImmediate(lastLook);
      // In a process that was held up, the timer can be due before what was typed is read.
      timer = setTimeout(() => {
        lastLook = setImmediate(put);
      }, quietMs);
    };
    const close = keyboard().open({
      take(chunk) {
        const text = chunk.toString();
        if (keys !== undefined) keys.push(typedLine.exec(text)?.[1] ?? chunk);
        else if (text.includes(ctrlC)) settle("interrupted");
        else wait();
      },
      end: () => settle("interrupted"),
    });
    signal.addEventListener("abort", onAbort, { once: true });
    wait();
  });
};
