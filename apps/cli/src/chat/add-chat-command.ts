import { type Command, Option } from "commander";
import type { ExitCode } from "../exit-code.ts";
import { cwdOption } from "../program-options.ts";

export interface ChatCommandOptions {
  /** Told the exit code of the command. */
  readonly onExit: (code: ExitCode) => void;
  /** How a model is written. */
  readonly modelForms: string;
}

/** The command `chat`. Its code is loaded when it is called. */
export const addChatCommand = (program: Command, { onExit, modelForms }: ChatCommandOptions): void => {
  program
    .command("chat")
    .description("talk with a model that has tools; what writes or executes waits for your approval")
    .addOption(cwdOption())
    .addOption(new Option("--session <id>", "go on with this conversation; what waits in it is shown"))
    .addOption(new Option("--model <spec>", `the model: ${modelForms}`).default("offline"))
    .addOption(
      new Option("--store <file>", "where conversations are kept (default: .harness/chat.sqlite in --cwd)"),
    )
    .addHelpText(
      "after",
      `\nExample:
  harness chat
  echo 'read README.md' | harness chat --session notes

A line is a message. These are commands: /help, /pending, /approve ID, /reject ID REASON, /quit.
Without a terminal the lines of standard input are taken one after the other; the exit code is
3 where a call waits at the end or was rejected. What waits when you leave goes on waiting:
harness chat --session ID shows it again, and you answer it there.`,
    )
    .action(async (options) => {
      const { chat } = await import("../commands/chat.ts");
      onExit(await chat(options));
    });
};
