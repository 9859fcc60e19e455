#!/usr/bin/env node
import { ownFault } from "./own-fault.ts";

// A verdict of the suite is never the code of a crash, which Node.js would end with 1.
const crash = (error: unknown): never => {
  process.stderr.write(ownFault(error));
  process.exit(70);
};
process.on("uncaughtException", crash);

const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => interruption.abort());
}
const inPlace = (line: string, isLast: boolean): void =>
  void process.stderr.write(`\r\u001b[2K${line}${isLast ? "\n" : ""}`);
const { runConformance } = await import("./cli/command.ts").catch(crash);
process.exitCode = await runConformance(process.argv.slice(2), {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  progress: process.stderr.isTTY ? inPlace : undefined,
  signal: interruption.signal,
});
