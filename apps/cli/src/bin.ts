#!/usr/bin/env node
// Imports nothing itself: agents start `guard hook` once for each tool call, and it must load its own file only.
const [, , command, subcommand, host] = process.argv;
const isHelp = host === "--help" || host === "-h";

if (command === "guard" && subcommand === "hook" && !isHelp) {
  const { hookProgram } = await import("./guard/hook-program.ts");
  await hookProgram(process.argv.slice(4));
} else {
  const { program } = await import("./command-line.ts");
  await program();
}
