import type { ExitCode } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import type { Command, CommandContext } from "./options.ts";

/** `harness conformance`, which hands its arguments to `@harnesskit/conformance`. */
export const addConformance = (program: Command, { onExit }: CommandContext): void => {
  program
    .command("conformance")
    .description("judge an implementation of a protocol from outside, statement by statement")
    .argument("[arguments...]", "a suite such as ahp-server, a target and options; --help lists them")
    .allowUnknownOption()
    .helpOption(false)
    .example("harness conformance ahp-server --stdio 'python3 harness.py'")
    .action(async (args: readonly string[]) => {
      const { runConformance } = await import("@harnesskit/conformance");
      const interruption = new AbortController();
      const interrupt = (): void => interruption.abort();
      for (const signal of ["SIGINT", "SIGTERM"] as const) io().signals.on(signal, interrupt);
      const code: ExitCode = await runConformance(args, {
        stdout: (text) => void createTerminal().write(text),
        stderr: (text) => void createTerminal(io().stderr).write(text),
        isTerminal: io().stderr.isTTY === true,
        signal: interruption.signal,
        command: "harness conformance",
      });
      for (const signal of ["SIGINT", "SIGTERM"] as const) io().signals.off(signal, interrupt);
      onExit(code);
    });
};
