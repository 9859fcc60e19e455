// One call of a hook, from the start of its program to its answer, side by side with `node -e 0`.
// Usage: node bench/guard-hook.mjs [--rounds 60]
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { inRounds, median, printTable, ratio } from "./lib/rounds.mjs";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "60" } } });
const rounds = Number(values.rounds);

const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "bench-guard-"));
const guardSocket = join(directory, "guard.sock");
const ahpSocket = join(directory, "ahp.sock");
const hub = fork(file("./guard-hook/hub.mjs"), [guardSocket, ahpSocket]);
await once(hub, "message");

const input = JSON.stringify({
  session_id: "s1",
  turn_id: "t1",
  cwd: directory,
  hook_event_name: "PreToolUse",
  model: "gpt-5",
  permission_mode: "default",
  tool_name: "Bash",
  tool_input: { command: "rm -rf /" },
  tool_use_id: "c1",
});
const isRefusal = (stdout) => JSON.parse(stdout).hookSpecificOutput.permissionDecision === "deny";

const cli = (name) => file(`../apps/cli/dist/${name}`);
const contenders = [
  { name: "`node -e 0`", args: ["-e", "0"], isRight: (stdout) => stdout === "" },
  {
    name: "`harness-guard-hook`",
    args: [cli("guard-hook.cjs"), "codex", "--socket", guardSocket],
    isRight: isRefusal,
  },
  {
    name: "`harness guard hook`",
    args: [cli("bin.js"), "guard", "hook", "codex", "--socket", guardSocket],
    isRight: isRefusal,
  },
  {
    name: "a program that maps by itself",
    args: [file("./guard-hook/thick.mjs"), "codex", ahpSocket],
    isRight: isRefusal,
  },
];

/** From the start of the process to its end, in milliseconds. */
const run = async ({ name, args, isRight }) => {
  const begin = performance.now();
  const child = spawn(process.execPath, args, { cwd: directory, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [stdout] = await Promise.all([text(child.stdout), once(child, "exit")]);
  const tookMs = performance.now() - begin;
  if (!isRight(stdout)) throw new TypeError(`${name} answered ${stdout}`);
  return tookMs;
};

try {
  for (const contender of contenders) await run(contender);
  const figures = await inRounds(contenders, rounds, run);
  const base = contenders[0].name;
  console.log(`${rounds} rounds, Node ${process.version}\n`);
  printTable(
    ["", "median", "paired with `node -e 0`"],
    contenders.map(({ name }) => [
      name,
      `${median(figures.get(name)).toFixed(1)} ms`,
      `${ratio(figures, name, base).toFixed(2)}×`,
    ]),
  );
} finally {
  hub.kill();
  rmSync(directory, { recursive: true });
}
