import type { Readable } from "node:stream";

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
