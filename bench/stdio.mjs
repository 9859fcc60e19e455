// The JSON-RPC peer over stdio, side by side with a hand-written echo, vscode-jsonrpc and the MCP SDK.
// Usage: node bench/stdio.mjs [--rounds 7] [--count 20000] [--in-flight 64]
import { parseArgs } from "node:util";
import { inRounds, latency, median, printTable, ratio, throughput } from "./lib/rounds.mjs";
import { contenders } from "./stdio/contenders.mjs";

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

const running = await Promise.all(contenders.map(async ({ name, start }) => ({ name, ...(await start()) })));
try {
  for (const { call } of running) await throughput(call, { count: count / 2, inFlight });
  const perSecond = await inRounds(running, rounds, ({ call }) => throughput(call, { count, inFlight }));
  const alone = await inRounds(running, rounds, ({ call }) => latency(call, { count: count / 10 }));
  const ours = "harnesskit";
  const isVoid = ratio(perSecond, "limit", "vscode-jsonrpc") < 2;
  printTable(
    ["", "calls/s", "harnesskit is", "median latency alone", "harnesskit's is"],
    running.map(({ name }) => [
      name,
      Math.round(median(perSecond.get(name))).toLocaleString("en"),
      `${ratio(perSecond, ours, name).toFixed(2)}×`,
      `${median(alone.get(name)).toFixed(0)} µs`,
      `${ratio(alone, ours, name).toFixed(2)}×`,
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
  await Promise.all(running.map(({ close }) => close()));
}
