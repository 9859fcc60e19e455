import { io } from "../io.ts";
import { createTerminal, type Terminal } from "../terminal/terminal.ts";

/** Where a command shows a thread, and where it says what the model says. */
export interface SessionStreams {
  /** Shows tools, questions and how a turn ended. */
  readonly shown: NodeJS.WriteStream;
  /** Where the answer goes, and lines of JSON. */
  readonly answer: NodeJS.WriteStream;
}

/** Of `harness run`: standard output is the answer alone. */
export const runStreams = (): SessionStreams => ({ shown: io().stderr, answer: io().stdout });

/** Of a command whose standard output shows everything. */
export const shownStreams = (): SessionStreams => ({ shown: io().stdout, answer: io().stdout });

/** The stream to ask the user on; undefined where none is a terminal, or standard input is not. */
export const questionStream = ({ shown, answer }: SessionStreams): NodeJS.WriteStream | undefined =>
  io().stdin.isTTY ? [shown, answer].find(({ isTTY }) => isTTY) : undefined;

/** Both as terminals: the same one where they are the same stream. */
export const streamTerminals = ({ shown, answer }: SessionStreams): { shown: Terminal; answer: Terminal } => {
  const terminal = createTerminal(shown);
  return { shown: terminal, answer: answer === shown ? terminal : createTerminal(answer) };
};
