// Decisions of a harness on four transports, side by side with a hand-written echo on each.
// What V8 makes of the same code differs from process to process, so that each transport is measured in several.
// Usage: node bench/ahp.mjs [--processes 3] [--rounds 3] [--count 5000] [--in-flight 64] [--transport stdio]…
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { batchSize, transports } from "./ahp/contenders.mjs";
import { action } from "./ahp/messages.mjs";
import { startIsolated } from "./lib/isolated.mjs";
import { addFigures, inRounds, median, printTable, ratio } from "./lib/rounds.mjs";

const { values } = parseArgs({
  options: {
    processes: { type: "string", default: "3" },
    rounds: { type: "string", default: "3" },
    count: { type: "string", default: "5000" },
    "in-flight": { type: "string", default: "64" },
    transport: { type: "string", multiple: true, default: transports },
  },
});
const processes = Number(values.processes);
const rounds = Number(values.rounds);
const count = Number(values.count);
const inFlight = Number(values["in-flight"]);
const wanted = { stdio: "0.60", unix: "0.60", http: "0.60", ws: "0.75" };

const module = new URL("./ahp/contenders.mjs", import.meta.url);
const root = mkdtempSync(join(tmpdir(), "bench-ahp-"));
const kinds = ["limit", "harnesskit", "batch"];

/** Measures the contenders of one transport in processes of their own, and adds their figures to `found`. */
const measure = async (transport, found) => {
  const running = [];
  const directory = mkdtempSync(join(root, `${transport}-`));
  try {
    for (const kind of kinds) {
      running.push({ ...(await startIsolated(module, `${transport} ${kind}`, directory)), name: kind });
    }
    const pair = running.slice(0, 2);
    for (const { throughput } of pair) await throughput(action, { count: count * 2, inFlight });
    await running[2].throughput(action, { count: count / 10, inFlight: 1 });
    const single = { count: count / 5, inFlight: 1 };
    const figures = {
      perSecond: await inRounds(pair, rounds, ({ throughput }) => throughput(action, { count, inFlight })),
      alone: await inRounds(pair, rounds, ({ latency }) => latency(action, { count: count / 10 })),
      byOne: await inRounds(running.slice(1), rounds, async ({ name, throughput }) =>
        name === "batch"
          ? batchSize * (await throughput(action, { count: count / 50, inFlight: 1 }))
          : throughput(action, single),
      ),
    };
    for (const [what, byName] of Object.entries(figures)) addFigures(found[what], byName);
  } finally {
    for (const { close } of running) await close();
  }
};

const rows = [];
try {
  for (const transport of values.transport) {
    const found = { perSecond: new Map(), alone: new Map(), byOne: new Map() };
    for (let index = 0; index < processes; index++) await measure(transport, found);
    const { perSecond, alone, byOne } = found;
    console.error(`${transport}: ${ratio(perSecond, "harnesskit", "limit").toFixed(2)}× of the limit`);
    rows.push([
      transport,
      Math.round(median(perSecond.get("limit"))).toLocaleString("en"),
      Math.round(median(perSecond.get("harnesskit"))).toLocaleString("en"),
      `${ratio(perSecond, "harnesskit", "limit").toFixed(2)}× (≥ ${wanted[transport]})`,
      `${median(alone.get("limit")).toFixed(0)} µs`,
      `${median(alone.get("harnesskit")).toFixed(0)} µs, ${ratio(alone, "harnesskit", "limit").toFixed(2)}×`,
      `${ratio(byOne, "batch", "harnesskit").toFixed(1)}×`,
    ]);
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
console.log(
  `${count} decisions, ${inFlight} in flight, median of ${rounds} rounds in each of ${processes} processes, Node ${process.version}\n`,
);
printTable(
  [
    "",
    "limit, decisions/s",
    "harnesskit",
    "of the limit",
    "limit, latency alone",
    "harnesskit",
    `a batch of ${batchSize}, against one after another`,
  ],
  rows,
);
