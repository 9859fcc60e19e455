import { readFileSync } from "node:fs";
import { watchInterruption } from "./interruption.ts";
import { processIo } from "./io.ts";
import { main } from "./main.ts";
import { startTelemetry } from "./telemetry.ts";
import { assumeSize } from "./terminal/terminal.ts";

/** The program, but for the hooks of other agents: runs the command line, writes what it has to say, and ends the process. */
export const program = async (): Promise<void> => {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };

  watchInterruption();
  assumeSize(process.stdout);
  assumeSize(process.stderr);

  const args = process.argv.slice(2);
  const telemetry = await startTelemetry(args[0]);
  const exitCode = await main({ args, version }, processIo);
  await telemetry?.close();
  // That output could not be written is reported in the next turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  // What was written leaves first; then the process ends, whatever a library still holds open.
  if (process.stdout.writableLength === 0) process.exit(exitCode);
  else process.stdout.write("", () => process.exit(exitCode));
};
