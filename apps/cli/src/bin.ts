#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { watchInterruption } from "./interruption.ts";
import { main } from "./main.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

watchInterruption();

const exitCode = await main({
  args: process.argv.slice(2),
  binPath: fileURLToPath(import.meta.url),
  version,
});
// That output could not be written is reported in the next turn of the event loop.
await new Promise((resolve) => setImmediate(resolve));
// What was written leaves first; then the process ends, whatever a library still holds open.
if (process.stdout.writableLength === 0) process.exit(exitCode);
else process.stdout.write("", () => process.exit(exitCode));
