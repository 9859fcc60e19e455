// What ten agents with a hundred tools add to a run of the command line.
// Usage: node bench/run-agents.mjs [--rounds 7] [--agents 10] [--tools 10]
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { inRounds, median, printTable, ratio } from "./lib/rounds.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    agents: { type: "string", default: "10" },
    tools: { type: "string", default: "10" },
  },
});
const binPath = fileURLToPath(new URL("../apps/cli/dist/bin.js", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "bench-run-agents-"));
const program = `
import { defineAgent, tool } from ${JSON.stringify(import.meta.resolve("@harnesskit/agent-sdk"))};
const [id, count] = process.argv.slice(2);
const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const tools = Array.from({ length: Number(count) }, (_, index) =>
  tool({ name: "tool_" + index, description: "Gives its input back", input, effects: "read", run: (given) => given }),
);
await defineAgent({ id, version: "1.0.0", tools }).run();
`;

const makeAgent = (index) => {
  const path = join(directory, `agent-${index}`);
  const id = `com.example.agent${index}`;
  mkdirSync(path);
  writeFileSync(join(path, "agent.mjs"), program);
  const command = [process.execPath, "agent.mjs", id, values.tools];
  writeFileSync(join(path, "opensentience.agent.json"), JSON.stringify({ id, version: "1.0.0", command }));
  return ["--agents", path];
};

const run = async ({ args }) => {
  const begin = performance.now();
  const whole = [binPath, "run", "--cwd", join(directory, "work"), ...args, "read README.md"];
  const env = { ...process.env, XDG_STATE_HOME: join(directory, "state") };
  await promisify(execFile)(process.execPath, whole, { env });
  return performance.now() - begin;
};

try {
  mkdirSync(join(directory, "work"));
  writeFileSync(join(directory, "work/README.md"), "# Demo\n");
  const name = `with ${values.agents} agents of ${values.tools} tools`;
  const args = Array.from({ length: Number(values.agents) }, (_, index) => makeAgent(index)).flat();
  const contenders = [
    { name: "harness run", args: [] },
    { name, args },
  ];
  for (const contender of contenders) await run(contender);
  const figures = await inRounds(contenders, Number(values.rounds), run);
  printTable(
    ["", "a whole run", "of one without agents"],
    contenders.map((one) => [
      one.name,
      `${median(figures.get(one.name)).toFixed(0)} ms`,
      `${ratio(figures, one.name, "harness run").toFixed(2)}×`,
    ]),
  );
} finally {
  rmSync(directory, { recursive: true, force: true });
}
