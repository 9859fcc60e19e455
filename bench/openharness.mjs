// Requests of a shell over HTTP: the engine beside a bare node:http and beside Express with ajv.
// What V8 makes of the same code differs from process to process, so that each is measured in several.
// Usage: node bench/openharness.mjs [--processes 5] [--rounds 5] [--count 10000] [--in-flight 64]
import { parseArgs } from "node:util";
import { startIsolated } from "./lib/isolated.mjs";
import { addFigures, inRounds, median, printTable, ratio } from "./lib/rounds.mjs";
import { contenders } from "./openharness/contenders.mjs";

const { values } = parseArgs({
  options: {
    processes: { type: "string", default: "5" },
    rounds: { type: "string", default: "5" },
    count: { type: "string", default: "10000" },
    "in-flight": { type: "string", default: "64" },
  },
});
const [processes, rounds, count, inFlight] = [
  values.processes,
  values.rounds,
  values.count,
  values["in-flight"],
].map(Number);
const names = { bare: "node:http, parsed and answered", express: "Express with ajv", engine: "harnesskit" };

const module = new URL("./openharness/contenders.mjs", import.meta.url);
const perSecond = new Map();
const alone = new Map();
for (let index = 0; index < processes; index++) {
  const running = [];
  try {
    for (const { name } of contenders) running.push(await startIsolated(module, name, ""));
    for (const { throughput } of running) await throughput(undefined, { count: count * 3, inFlight });
    const measure = ({ throughput }) => throughput(undefined, { count, inFlight });
    addFigures(perSecond, await inRounds(running, rounds, measure));
    addFigures(
      alone,
      await inRounds(running, rounds, ({ latency }) => latency(undefined, { count: count / 10 })),
    );
  } finally {
    for (const { close } of running) await close();
  }
}
const cell = (name, base, wanted) =>
  name === "engine" ? `${ratio(perSecond, "engine", base).toFixed(2)}× (${wanted})` : "";
printTable(
  ["", "requests/s", "of node:http", "of Express", "median latency alone"],
  contenders.map(({ name }) => [
    names[name],
    Math.round(median(perSecond.get(name))).toLocaleString("en"),
    cell(name, "bare", "≥ 0.5"),
    cell(name, "express", "≥ 2"),
    `${median(alone.get(name)).toFixed(0)} µs`,
  ]),
  `${count} requests, ${inFlight} in flight, median of ${rounds} rounds in each of ${processes} processes`,
);
