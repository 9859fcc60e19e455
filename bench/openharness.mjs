// Requests of a shell over HTTP: the engine beside a bare node:http and beside Express with ajv; and what it holds of many.
// What V8 makes of the same code differs from process to process, so that each is measured in several.
// Usage: node bench/openharness.mjs [--processes 5] [--rounds 5] [--count 10000] [--in-flight 64] [--remember 500000] [--save]
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { reportFigures } from "./lib/chart.mjs";
import { startIsolated } from "./lib/isolated.mjs";
import { addFigures, inRounds, median, printTable, ratio } from "./lib/rounds.mjs";
import { contenders } from "./openharness/contenders.mjs";

const { values } = parseArgs({
  options: {
    processes: { type: "string", default: "5" },
    rounds: { type: "string", default: "5" },
    count: { type: "string", default: "10000" },
    "in-flight": { type: "string", default: "64" },
    remember: { type: "string", default: "500000" },
    save: { type: "boolean", default: false },
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
reportFigures(
  "openharness",
  {
    title: "Requests of a shell a second over HTTP",
    unit: "requests/s",
    note: `${inFlight} in flight, median of ${rounds} rounds in each of ${processes} processes`,
    rows: contenders.map(({ name }) => ({
      name: name === "bare" ? "node:http alone" : names[name],
      value: median(perSecond.get(name)),
      isOurs: name === "engine",
    })),
    lead: `${count} requests, ${inFlight} in flight, median of ${rounds} rounds in each of ${processes} processes`,
    head: ["", "requests/s", "of node:http", "of Express", "median latency alone"],
    cells: contenders.map(({ name }) => [
      names[name],
      Math.round(median(perSecond.get(name))).toLocaleString("en"),
      cell(name, "bare", "≥ 0.60"),
      cell(name, "express", "> 1"),
      `${median(alone.get(name)).toFixed(0)} µs`,
    ]),
  },
  values.save,
);

const script = fileURLToPath(new URL("./openharness/remember-script.mjs", import.meta.url));
const child = fork(script, [values.remember], { execArgv: ["--expose-gc"] });
const rows = [];
child.on("message", ({ number, remembered, megabytes }) => {
  rows.push([number.toLocaleString("en"), remembered.toLocaleString("en"), `${megabytes.toFixed(0)} MB`]);
});
const [code] = await once(child, "exit");
if (code !== 0) throw new Error(`the engine that remembers has ended with ${code}`);
console.log("\nAn engine with its default limits, asked with an id of its own each time:\n");
printTable(["requests", "remembered (≤ 100,000)", "heap more than before"], rows);
