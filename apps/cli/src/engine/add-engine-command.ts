import { type Command, Option } from "commander";
import type { ExitCode } from "../exit-code.ts";
import { cwdOption, portNumber, severalTimes } from "../program-options.ts";

export interface EngineCommandOptions {
  /** Told the exit code of the command. */
  readonly onExit: (code: ExitCode) => void;
  /** How a model is written. */
  readonly modelForms: string;
}

/** The command `engine`. Its code is loaded when it is called. */
export const addEngineCommand = (program: Command, { onExit, modelForms }: EngineCommandOptions): void => {
  program
    .command("engine")
    .description(
      "serve OpenHarness to shells on this machine: one conversation each, with tools and approvals",
    )
    .addOption(cwdOption())
    .addOption(
      new Option("--port <n>", "the port of 127.0.0.1 (default: a free one)").argParser(portNumber("--port")),
    )
    .addOption(new Option("--model <spec>", `the model: ${modelForms}`).default("offline"))
    .addOption(
      new Option(
        "--token-file <file>",
        "the token that shells show; made where it is missing (default: a new private file)",
      ).conflicts("auth"),
    )
    .addOption(new Option("--no-auth", "no token: every program on this machine may come"))
    .addOption(
      new Option(
        "--allow-origin <origin>",
        "an origin whose pages may come, as http://localhost:5173; can be given several times",
      ).argParser(severalTimes),
    )
    .addOption(
      new Option("--store <file>", "where conversations are kept (default: .harness/chat.sqlite in --cwd)"),
    )
    .addOption(new Option("--quiet", "no line for each request"))
    .addHelpText(
      "after",
      `\nExample:
  harness engine --port 8420 --token-file ~/.config/harness/engine-token
  harness engine --model anthropic:MODEL --allow-origin http://localhost:5173

Shells post to http://127.0.0.1:PORT/openharness. What writes or executes waits for an approval in
the shell; what waits when the engine ends can be answered when it runs again. A session of a shell is
a conversation of harness chat: harness chat --session ID goes on with it. SIGTERM or Ctrl-C ends it.

Attachments are paths in --cwd (ref_id) or file: addresses in it. Images and texts reach the model; files
outside, files that hold secrets by their name and other types are refused, which the user is shown.`,
    )
    .action(async (options) => {
      const { engine } = await import("../commands/engine.ts");
      onExit(await engine(options));
    });
};
