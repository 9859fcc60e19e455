import { realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import type { Readable } from "node:stream";
import type { FileInput } from "@harnesskit/protocol/threads";
import { CliError, ExitCode, usageError } from "../cli-error.ts";
import { noteInterruption } from "../interruption.ts";
import { fromHere, io } from "../io.ts";
import { completeLine } from "../terminal/complete-line.ts";
import { LineHistory } from "../terminal/line-history.ts";
import { LineReader } from "../terminal/line-reader.ts";
import { note } from "../terminal/terminal.ts";

/** The longest prompt that is read from standard input, in bytes. */
const maxPromptBytes = 1024 * 1024;

/** The prompt of `harness run`: its argument, or all of standard input for `-` and where there is a pipe instead. */
export const promptOf = async (
  argument: string | undefined,
  { thread }: { readonly thread?: string },
  input: Readable & { readonly isTTY?: boolean },
): Promise<string | undefined> => {
  // With a thread and no prompt, what waits in that thread is answered.
  const isPiped = argument === "-" || (argument === undefined && thread === undefined && !input.isTTY);
  return isPiped ? readPrompt(input) : argument;
};

const chatCommand = /^\/(?:approve|clear|cost|diff|exit|help|model|pending|quit|reject|resume)(?=\s|$)/;

/** Throws a usage error for a prompt that is a command of a conversation: a model would only guess what it means. */
export const checkCommand = (prompt: string | undefined, hasThread: boolean): void => {
  const text = prompt?.trim() ?? "";
  if (text === "/compact" && !hasThread)
    throw usageError("/compact needs a thread", {
      to: "For example",
      run: "harness run --continue /compact",
    });
  const [command] = chatCommand.exec(text) ?? [];
  if (command === undefined) return;
  throw usageError(
    `${command} is a command of harness chat`,
    command === "/cost"
      ? { to: "What threads cost", run: "harness threads cost" }
      : { to: "To go on with a conversation", run: "harness chat" },
  );
};

const readPrompt = async (input: Readable): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > maxPromptBytes) {
      throw usageError(
        `The prompt on standard input is longer than ${maxPromptBytes} bytes`,
        "Put long text into a file, and name the file in the prompt",
      );
    }
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)).trim();
  } catch {
    throw usageError("The prompt on standard input is not UTF-8 text");
  }
};

/**
 * A file of the current directory as the server of a thread knows it: by its path in the thread's directory. One outside of it, or one
 * that is not there, goes as it is: the server says why it is refused.
 */
export const toFileInput = async (path: string, directory: string): Promise<FileInput> => {
  const absolute = await realpath(path).catch(() => fromHere(path));
  const way = relative(directory, absolute);
  const isInside = way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  return { type: "file", path: isInside ? way.split(sep).join("/") : absolute };
};

/** Whether the user can be asked what to do. */
export const canAskPrompt = (): boolean => io().stdin.isTTY === true && io().stdout.isTTY === true;

/**
 * Asks the user at the terminal what to do, as a conversation does: with its history, and `@FILE` completed. Rejects with a `CliError` `cancelled` after
 * Ctrl-C, and at the end of the input.
 */
export const askPrompt = async (directory: string): Promise<string> => {
  note("What to do? Enter sends it; Alt+Enter begins another line; Ctrl-C leaves.");
  const history = new LineHistory();
  await history.load();
  const reader = new LineReader({
    onInterrupt: () => reader.close(),
    history,
    complete: (line) => completeLine(line, { commands: [], ids: () => [], directory }),
  });
  try {
    for (;;) {
      const prompt = await reader.next();
      if (prompt === undefined) {
        noteInterruption();
        throw new CliError("cancelled", "No prompt was entered", { exitCode: ExitCode.interrupted });
      }
      if (prompt.trim() !== "") return prompt.trim();
    }
  } finally {
    reader.close();
    await history.saved();
  }
};
