import type { ExitCode } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { wrapPage, wrapText } from "../terminal/text.ts";
import { type Command, helpWidth } from "./options.ts";

/** `harness conformance`, which hands its arguments to `@harnesskit/conformance`. */
export const addConformance = (program: Command): void => {
  program
    .command("conformance")
    .description("judge an implementation of a protocol from outside, statement by statement")
    .argument("[arguments...]", "a suite such as ahp-server, a target and options; --help lists them")
    .allowUnknownOption()
    .helpOption(false)
    .example("harness conformance ahp-server --stdio 'python3 harness.py'")
    .runs(async () => judge, false);
};

const judge = async (args: readonly string[]): Promise<ExitCode> => {
  const { runConformance } = await import("@harnesskit/conformance");
  const { signals, stderr } = io();
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) signals.on(signal, interrupt);
  const [report, progress] = [createTerminal(), createTerminal(stderr)];
  let rows = 0;
  const isHelp = args.some((arg) => ["--help", "-h"].includes(arg));
  const width = args.includes("--json") ? undefined : report.columns;
  const hang = args.includes("--list") ? "       " : undefined;
  const code = await runConformance(args, {
    stdout: (text) =>
      void report.write(isHelp ? wrapPage(text, helpWidth(io().stdout)) : wrapText(text, width, hang)),
    stderr: (text) => void progress.write(wrapText(text, progress.columns)),
    progress: (line) => {
      if (rows > 0 && stderr.isTTY) progress.takeBack(rows);
      rows = progress.say(line);
    },
    signal: interruption.signal,
    command: "harness conformance",
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) signals.off(signal, interrupt);
  return code;
};
