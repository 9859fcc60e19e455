import { createInterface } from "node:readline";
import { io } from "../io.ts";

/** A line that the user types; undefined after Ctrl-C or Esc and Enter, at the end of the input, and where the signal aborts. */
export const askLine = (
  message: string,
  signal: AbortSignal,
  output: NodeJS.WriteStream,
): Promise<string | undefined> =>
  new Promise((resolve) => {
    const reader = createInterface({ input: io().stdin, output, terminal: true });
    const onAbort = () => reader.close();
    signal.addEventListener("abort", onAbort, { once: true });
    reader.once("close", () => {
      signal.removeEventListener("abort", onAbort);
      resolve(undefined);
    });
    reader.question(`${message} `, (line) => {
      resolve(line);
      reader.close();
    });
    if (signal.aborted) reader.close();
  });
