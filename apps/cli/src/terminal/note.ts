import { createTerminal } from "./terminal.ts";
import { wrapText } from "./wrap-text.ts";

/** Writes a line of safe text to stderr; at a terminal it is broken between words. */
export const note = (line: string): void => {
  const terminal = createTerminal(process.stderr);
  terminal.write(wrapText(`${line}\n`, terminal.columns));
};
