import { type Command, Option } from "commander";
import type { ExitCode } from "../exit-code.ts";
import { severalTimes, wholeNumber } from "../program-options.ts";

export interface ShellCommandOptions {
  readonly version: string;
  /** Told the exit code of the command. */
  readonly onExit: (code: ExitCode) => void;
}

/** The command `shell`. Its code is loaded when it is called. */
export const addShellCommand = (program: Command, { version, onExit }: ShellCommandOptions): void => {
  program
    .command("shell")
    .description(
      "a shell of an OpenHarness engine: says something, shows what comes back, asks before it answers",
    )
    .argument("[intent]", "what you want; without it the lines of standard input, one after the other")
    .addOption(
      new Option(
        "--engine <url>",
        "the engine: http(s)://HOST:PORT/openharness (default: the one of harness engine)",
      ),
    )
    .addOption(
      new Option("--token-file <file>", "the engine's token (default: $HARNESS_ENGINE_TOKEN, if it is set)"),
    )
    .addOption(
      new Option("--session <id>", "this conversation (default: the one of the last call)").conflicts("new"),
    )
    .addOption(new Option("--new", "begin another conversation"))
    .addOption(
      new Option(
        "--approve <how>",
        "how approvals are answered; ask needs a terminal (default: ask; without a terminal they wait)",
      ).choices(["ask", "once", "reject"]),
    )
    .addOption(
      new Option(
        "--attach <reference>",
        "send this with the first message: a path in the engine's workspace, or an address that the engine knows; can be given several times",
      ).argParser(severalTimes),
    )
    .addOption(
      new Option("--timeout <seconds>", "how long an answer is waited for")
        .argParser(wholeNumber("--timeout"))
        .default(120),
    )
    .addHelpText(
      "after",
      `\nExample:
  harness shell --engine http://127.0.0.1:8787/openharness --token-file token "hello"

An attachment is a reference: the engine reads it, by its own rules, and says what it did not give to
the model. Nothing of your machine is sent with it, and no state of your system is.

A line is a message. These are commands: /help, /pending, /approve ID, /reject ID REASON, /quit.
The conversation, and what waits in it, is kept for the next call, in a file that only you read.
A form is asked for at a terminal, and shown elsewhere. Denials and what was left out are said
on standard error.

Exit codes: 0 done, 1 the engine failed, or it was cancelled, or what it sent could not be shown,
2 wrong usage, 3 refused, or a question waits or could not be asked, 4 the engine cannot be reached`,
    )
    .action(async (intent: string | undefined, options) => {
      const { shell } = await import("../commands/shell.ts");
      onExit(await shell(intent, options, { version }));
    });
};
