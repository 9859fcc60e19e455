import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { join, relative, resolve } from "node:path";
import { repositoryRoot } from "./lib/root.mjs";

const bin = join(repositoryRoot, "apps/cli/dist/bin.cjs");
const demonstration =
  "describe this repository, then search for ThreadStore in packages/thread-server/src, then run the command: node --version";
const next = `
Next:
  npm start -- "read README.md, then search for createThreadServer"   the same agent on your own words
  npm start -- --cwd ../other-project "describe this repository"      the same agent elsewhere
  node apps/cli/dist/bin.cjs --help                                   every command of the harness

What is called \`harness\` above is \`node apps/cli/dist/bin.cjs\` in this repository; \`npm link\` in apps/cli makes it a command of yours.
`;

const startedIn = process.env.INIT_CWD ?? process.cwd();

/** The user's arguments, with the value of `--cwd` read from where the user stands and not from here. */
function resolveCwd(args) {
  const resolved = [...args];
  for (const [index, argument] of args.entries()) {
    if (argument === "--") break;
    if (argument === "--cwd" && args[index + 1] !== undefined)
      resolved[index + 1] = resolve(startedIn, args[index + 1]);
    else if (argument.startsWith("--cwd="))
      resolved[index] = `--cwd=${resolve(startedIn, argument.slice(6))}`;
  }
  return resolved;
}

function demonstrationArguments() {
  process.stdout.write(`harness run "${demonstration}"\n`);
  if (process.stdin.isTTY && process.stdout.isTTY) return [demonstration, "--cwd", repositoryRoot];
  process.stdout.write(
    "(no terminal to ask in: the harmless command `node --version` is approved for the demonstration)\n",
  );
  return [demonstration, "--cwd", repositoryRoot, "--approve", "once"];
}

if (!existsSync(bin)) {
  process.stderr.write(
    `${relative(process.cwd(), bin)} is not built: run it with \`npm start\`, which builds first.\n`,
  );
  process.exit(1);
}
const given = process.argv.slice(2);
const isDemonstration = given.length === 0;
const args = isDemonstration ? demonstrationArguments() : resolveCwd(given);
const child = spawn(process.execPath, [bin, "run", ...args], { stdio: "inherit", cwd: startedIn });

// A terminal sends its interruption to the whole group; what is sent to this process alone is passed on.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on("error", (error) => {
  process.stderr.write(`The harness cannot be started: ${error.message}\n`);
  process.exitCode = 1;
});
child.on("exit", (code, signal) => {
  process.exitCode = signal === null ? code : 128 + (constants.signals[signal] ?? 0);
  if (isDemonstration && code === 0) process.stdout.write(next);
});
