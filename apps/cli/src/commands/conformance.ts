import type { Command } from "commander";
import type { ExitCode } from "../cli-error.ts";
import type { CommandContext } from "./options.ts";

/** `harness conformance`, which hands its arguments to `@harnesskit/conformance`. */
export const addConformance = (program: Command, { onExit }: CommandContext): void => {
  program
    .command("conformance")
    .description("judge an implementation of a protocol from outside, statement by statement")
    .argument("[arguments...]", "a suite such as ahp-server, a target and options; --help lists them")
    .allowUnknownOption()
    .helpOption(false)
    .addHelpText("after", "\nExample:\n  harness conformance ahp-server --stdio 'python3 harness.py'")
    .action(async (args: readonly string[]) => {
      const { runConformance } = await import("@harnesskit/conformance");
      const interruption = new AbortController();
      const interrupt = (): void => interruption.abort();
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, interrupt);
      const code: ExitCode = await runConformance(args, {
        stdout: (text) => void process.stdout.write(text),
        stderr: (text) => void process.stderr.write(text),
        isTerminal: process.stderr.isTTY === true,
        signal: interruption.signal,
        command: "harness conformance",
      });
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, interrupt);
      onExit(code);
    });
};
