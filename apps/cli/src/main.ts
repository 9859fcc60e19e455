import { CommanderError } from "commander";
import { describeCauses, ExitCode, isDebugging, sayError, toCliError, usageError } from "./cli-error.ts";
import { interruptedExitCode } from "./interruption.ts";
import { type Io, io, withIo } from "./io.ts";
import { createProgram } from "./program.ts";
import { createTerminal } from "./terminal/terminal.ts";
import { wrapText } from "./terminal/text.ts";

export interface MainOptions {
  readonly args: readonly string[];
  readonly version: string;
}

/** What `harness` says when it is called without a command. */
const firstScreen = `harness runs an AI agent on the files of a directory. It asks before it changes anything.

Try one of these; none of them needs a key:
  harness run "describe this repository"   give it a task
  harness chat                             talk with it
  harness doctor                           find problems

How to use a language model: harness doctor
All commands: harness --help
`;

const requireWorkingDirectory = (): void => {
  try {
    io().cwd();
  } catch {
    throw usageError(
      "The directory that this was started in does not exist any more",
      "Go to one that does: cd DIR",
    );
  }
};

/** Whether `--json` is among the words that are this program's own. */
const wantsJson = (args: readonly string[]): boolean =>
  args.slice(0, args.includes("--") ? args.indexOf("--") : undefined).includes("--json");

const run = async ({ args, version }: MainOptions): Promise<ExitCode> => {
  try {
    requireWorkingDirectory();
    if (args.length === 0) {
      const terminal = createTerminal();
      terminal.write(wrapText(firstScreen, terminal.columns));
      return ExitCode.done;
    }
    // `help COMMAND` is `COMMAND --help`.
    const words = args[0] === "help" ? [...args.slice(1), "--help"] : [...args];
    const program = createProgram(version, words[0]);
    await program.parseAsync(words, { from: "user" });
    return interruptedExitCode() ?? program.exitCode;
  } catch (error) {
    const isTold = error instanceof CommanderError;
    if (isTold && error.exitCode === 0) return ExitCode.done;
    const { message, hints, exitCode: failed, json } = isTold ? usageError(error.message) : toCliError(error);
    if (wantsJson(args)) createTerminal().json(json);
    // Commander has said what there was to say.
    if (isTold) return failed;
    sayError(message, hints);
    if (isDebugging()) createTerminal(io().stderr).say(describeCauses(error).split("\n"));
    return interruptedExitCode() ?? failed;
  }
};

/** Runs a command line in the world that it is given, and returns its exit code. Never rejects; failures are reported on stderr of `given`. */
export const main = (options: MainOptions, given: Io): Promise<ExitCode> => withIo(given, () => run(options));
