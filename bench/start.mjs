// What a start of the command costs, beside `node -e 0`: a run, the version, a wrong option, and the hook of another vendor's agent.
// Usage: node bench/start.mjs [--rounds 20]
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { inRounds, median, optionsFrom, printTable, ratio } from "./lib/rounds.mjs";

const { rounds } = optionsFrom({ rounds: 20 });

const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "bench-start-"));
const guardSocket = join(directory, "guard.sock");
const hub = fork(file("./start/hub.mjs"), [guardSocket]);
await once(hub, "message");

const hookInput = JSON.stringify({
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
const cli = (name) => file(`../apps/cli/dist/${name}`);
const hookArgs = ["codex", "--socket", guardSocket];
const contenders = [
  { name: "`node -e 0`", args: ["-e", "0"], exitCode: 0, wanted: "" },
  { name: "`harness --version`", args: [cli("bin.cjs"), "--version"], exitCode: 0, wanted: "≤ 1.5×" },
  { name: "a wrong option", args: [cli("bin.cjs"), "run", "--no-such-option"], exitCode: 2, wanted: "≤ 2×" },
  { name: "`harness run hello`", args: [cli("bin.cjs"), "run", "hello"], exitCode: 0, wanted: "≤ 6×" },
  {
    name: "`harness-guard-hook`",
    args: [cli("guard-hook.cjs"), ...hookArgs],
    input: hookInput,
    exitCode: 0,
    wanted: "≤ 1.3×",
  },
];

/** Processor time of all children that have ended, in milliseconds; the system counts it in hundredths of a second. */
const usedMs = () => {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
};

const started = 5;
/** Starts the program some times, one after the other: processor time of one start. */
const run = async ({ name, args, input = "", exitCode }) => {
  const used = usedMs();
  for (let count = 0; count < started; count++) {
    const env = { ...process.env, XDG_STATE_HOME: join(directory, "state") };
    const child = spawn(process.execPath, args, { cwd: directory, env, stdio: ["pipe", "pipe", "pipe"] });
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const [[code]] = await Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]);
    if (code !== exitCode) throw new TypeError(`${name} ended with ${code}`);
  }
  return (usedMs() - used) / started;
};

try {
  for (const contender of contenders) await run(contender);
  const figures = await inRounds(contenders, rounds, run);
  const base = contenders[0].name;
  printTable(
    ["", "processor time", "of `node -e 0`", "wanted"],
    contenders.map(({ name, wanted }) => [
      name,
      `${median(figures.get(name)).toFixed(0)} ms`,
      `${ratio(figures, name, base).toFixed(1)}×`,
      wanted,
    ]),
    `${rounds} rounds of ${started} starts each`,
  );
} finally {
  hub.kill();
  rmSync(directory, { recursive: true });
}
