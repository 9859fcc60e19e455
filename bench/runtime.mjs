// Tool calls over a Unix socket, side by side with a hand-written echo, vscode-jsonrpc and the MCP SDK.
// Usage: node bench/runtime.mjs [--rounds 7] [--count 20000] [--in-flight 64]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startIsolated } from "./lib/isolated.mjs";
import { inRounds, median, printTable, ratio } from "./lib/rounds.mjs";
import { contenders } from "./runtime/contenders.mjs";
import { inputOf, smallInput } from "./runtime/messages.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    count: { type: "string", default: "20000" },
    "in-flight": { type: "string", default: "64" },
  },
});
const rounds = Number(values.rounds);
const count = Number(values.count);
const inFlight = Number(values["in-flight"]);
const largeInput = inputOf(64 * 1024);
const large = { count: Math.ceil(count / 20), inFlight: 16 };

const module = new URL("./runtime/contenders.mjs", import.meta.url);
const directory = mkdtempSync(join(tmpdir(), "bench-runtime-"));
const running = [];
try {
  for (const { name } of contenders) running.push(await startIsolated(module, name, directory));
  for (const { throughput } of running) {
    await throughput(smallInput, { count: count * 2, inFlight });
    await throughput(largeInput, { count: large.count, inFlight: large.inFlight });
  }
  const perSecond = await inRounds(running, rounds, ({ throughput }) =>
    throughput(smallInput, { count, inFlight }),
  );
  const alone = await inRounds(running, rounds, ({ latency }) => latency(smallInput, { count: count / 10 }));
  const largePerSecond = await inRounds(running, rounds, ({ throughput }) => throughput(largeInput, large));
  const isVoid = ratio(perSecond, "limit", "vscode-jsonrpc") < 2;
  printTable(
    [
      "",
      "calls/s",
      "of the limit",
      "core.call is",
      "median latency alone",
      "of the limit's",
      "64 KiB/s",
      "of the limit",
    ],
    running.map(({ name }) => [
      name,
      Math.round(median(perSecond.get(name))).toLocaleString("en"),
      `${ratio(perSecond, name, "limit").toFixed(2)}×`,
      `${ratio(perSecond, "core.call", name).toFixed(2)}×`,
      `${median(alone.get(name)).toFixed(0)} µs`,
      `${ratio(alone, name, "limit").toFixed(2)}×`,
      Math.round(median(largePerSecond.get(name))).toLocaleString("en"),
      `${ratio(largePerSecond, name, "limit").toFixed(2)}×`,
    ]),
    `${count} calls, ${inFlight} in flight, median of ${rounds} rounds`,
  );
  if (isVoid) {
    console.log(
      "\nVoid: the limit is under twice vscode-jsonrpc, so it was badly written or badly measured.",
    );
    process.exitCode = 1;
  }
} finally {
  for (const { close } of running) await close();
  rmSync(directory, { recursive: true, force: true });
}
