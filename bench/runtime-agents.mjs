// What agents cost a core: from the launch to the first call, and 100 idle ones.
// Usage: node bench/runtime-agents.mjs [--pairs 40] [--agents 100] [--seconds 20]
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openFileAuditSink } from "@harnesskit/audit/node";
import { startCore } from "@harnesskit/core-runtime";
import { inRounds, median, printTable, ratio } from "./lib/rounds.mjs";
import { smallInput } from "./runtime/messages.mjs";

const { values } = parseArgs({
  options: {
    pairs: { type: "string", default: "40" },
    agents: { type: "string", default: "100" },
    seconds: { type: "string", default: "20" },
  },
});
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "bench-agents-"));

/** A script that imports the same modules and connects, in milliseconds. */
const bareStart = async () => {
  const path = join(directory, "bare.sock");
  const server = createServer().listen(path);
  await once(server, "listening");
  const begin = performance.now();
  const child = spawn(process.execPath, [here("./runtime/bare-script.mjs")], {
    stdio: "inherit",
    env: { ...process.env, BENCH_SOCKET: path },
  });
  const [socket] = await once(server, "connection");
  await once(socket, "data");
  const took = performance.now() - begin;
  socket.destroy();
  server.close();
  await once(child, "exit");
  return took;
};

/** From `launch` to the result of the first call, in milliseconds. */
const launch = async (core) => {
  const begin = performance.now();
  const { agentId } = await core.launch(here("./runtime/echo-agent"));
  const { status } = await core.call(`${agentId}/echo`, smallInput).result;
  if (status !== "succeeded") throw new TypeError(`the first call ${status}`);
  const took = performance.now() - begin;
  await core.stop(agentId);
  return took;
};

const idleShare = async (core, count, seconds) => {
  let registered = 0;
  let allThere;
  const ready = new Promise((resolve) => {
    allThere = resolve;
  });
  const observer = {
    connected() {},
    health() {},
    disconnected() {},
    registered: () => ++registered === count && allThere(),
  };
  const agents = Array.from({ length: count }, (_, index) => {
    const id = `com.example.idle-${index}`;
    return { id, ...core.admit({ launchId: `idle-${index}`, agentId: id }, observer) };
  });
  const child = fork(here("./runtime/idle-agents.mjs"));
  child.send({ path: core.socketPath, agents: agents.map(({ id, token }) => ({ id, token })) });
  await ready;
  await delay(1000);
  const before = process.cpuUsage();
  await delay(seconds * 1000);
  const { user, system } = process.cpuUsage(before);
  for (const { revoke } of agents) revoke();
  child.kill();
  await once(child, "exit");
  return (user + system) / (seconds * 1e6);
};

const audit = await openFileAuditSink({ path: join(directory, "audit.jsonl") });
const core = await startCore({ audit });
try {
  const contenders = [
    { name: "bare", start: bareStart },
    { name: "launch", start: () => launch(core) },
  ];
  for (const { start } of contenders) await start();
  const times = await inRounds(contenders, Number(values.pairs), ({ start }) => start());
  const share = await idleShare(core, Number(values.agents), Number(values.seconds));
  printTable(
    ["", "measured", "wanted"],
    [
      [
        "a script that imports the same modules and connects",
        `${median(times.get("bare")).toFixed(0)} ms`,
        "",
      ],
      [
        "launch to first call",
        `${median(times.get("launch")).toFixed(0)} ms, ${ratio(times, "launch", "bare").toFixed(2)}×`,
        "≤ 1.3×",
      ],
      [`${values.agents} idle agents, of a core`, `${(100 * share).toFixed(2)} %`, "≤ 2 %"],
    ],
  );
} finally {
  await core.close();
  await audit.close();
  rmSync(directory, { recursive: true, force: true });
}
