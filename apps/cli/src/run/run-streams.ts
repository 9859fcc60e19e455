import { io } from "../io.ts";
import { createTerminal, type Terminal } from "../terminal/terminal.ts";

/** Where a command shows a thread, and where it says what the model says. */
export interface RunStreams {
  /** Shows tools, questions and how a turn ended. */
  readonly shown: NodeJS.WriteStream;
  /** Where the answer goes, and lines of JSON. */
  readonly answer: NodeJS.WriteStream;
}

/** Of `harness run`: standard output is the answer alone. */
export const runStreams = (): RunStreams => ({ shown: io().stderr, answer: io().stdout });

/** Of `harness attach`, which shows the whole thread. */
export const attachStreams = (): RunStreams => ({ shown: io().stdout, answer: io().stdout });

/** The stream to ask the user on; undefined where none is a terminal, or standard input is not. */
export const questionStream = ({ shown, answer }: RunStreams): NodeJS.WriteStream | undefined =>
  io().stdin.isTTY ? [shown, answer].find(({ isTTY }) => isTTY) : undefined;

/** Both as terminals: the same one where they are the same stream. */
export const streamTerminals = ({ shown, answer }: RunStreams): { shown: Terminal; answer: Terminal } => {
  const terminal = createTerminal(shown);
  return { shown: terminal, answer: answer === shown ? terminal : createTerminal(answer) };
};
