import { io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";

const maxWaitingBytes = 1024 * 1024;

/** Lines on standard error that never hold up the server, nor fill its memory. */
export interface LiveLog {
  say(lines: string | readonly string[]): void;
  /** The same with the time. */
  tell(line: string): void;
}

/**
 * Writes lines to a stream. Those that come while a slow reader has much to read are dropped, and the next line
 * reports their number. A reader that goes away ends nothing. Each line begins with `name`.
 */
export const createLiveLog = (stream: NodeJS.WriteStream = io().stderr, name = "harness ahp"): LiveLog => {
  const terminal = createTerminal(stream);
  let dropped = 0;
  stream.on("error", () => {});
  const say: LiveLog["say"] = (lines) => {
    if (stream.destroyed || stream.writableLength > maxWaitingBytes) {
      dropped++;
      return;
    }
    const missing = dropped === 0 ? [] : [`${dropped} lines are missing here: they were not read in time`];
    dropped = 0;
    terminal.say([...missing, ...[lines].flat()].map((line) => `${name}: ${line}`));
  };
  return { say, tell: (line) => say(`${new Date().toTimeString().slice(0, "hh:mm:ss".length)} ${line}`) };
};
