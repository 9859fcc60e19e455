#!/usr/bin/env node
// Imports no file itself: agents start `guard hook` once for each tool call, and it must load its own file only.
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

const [, , command, subcommand, host] = process.argv;
const isVersion = (command === "--version" || command === "-V") && subcommand === undefined;
const isHelp = host === "--help" || host === "-h";

if (command === "guard" && subcommand === "hook" && !isHelp) {
  void import("./guard/hook-program.ts").then(({ hookProgram }) => hookProgram(process.argv.slice(4)));
} else if (isVersion) {
  const { createRequire } = module;
  const { version } = createRequire(import.meta.url)("../package.json") as { version: string };
  process.stdout.on("error", () => {
    process.exitCode = 1;
  });
  process.stdout.write(`${version}\n`);
} else {
  const cache = process.env.XDG_CACHE_HOME ?? "";
  // Node.js 22 and newer keep what they compiled. Not in the directory for temporary files, which others can write, too.
  const directory = join(cache.startsWith("/") ? cache : join(homedir(), ".cache"), "harnesskit", "compiled");
  (module as { enableCompileCache?: (directory: string) => unknown }).enableCompileCache?.(directory);
  // What ends without an exit code of its own has not come to its end.
  process.exitCode = 13;
  void import("./command-line.ts").then(({ program }) => program());
}
