// Decisions of a harness on four transports, side by side with a hand-written echo on each.
// Usage: node bench/ahp.mjs [--rounds 7] [--count 10000] [--in-flight 64]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { batchSize, transports } from "./ahp/contenders.mjs";
import { action } from "./ahp/messages.mjs";
import { startIsolated } from "./lib/isolated.mjs";
import { inRounds, median, printTable, ratio } from "./lib/rounds.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    count: { type: "string", default: "10000" },
    "in-flight": { type: "string", default: "64" },
  },
});
const rounds = Number(values.rounds);
const count = Number(values.count);
const inFlight = Number(values["in-flight"]);
const wanted = { stdio: ["0.65", "5"], unix: ["0.65", ""], ws: ["0.65", ""], http: ["0.75", "8"] };

const module = new URL("./ahp/contenders.mjs", import.meta.url);
const directory = mkdtempSync(join(tmpdir(), "bench-ahp-"));
const rows = [];
try {
  for (const transport of transports) {
    const running = [];
    const names = ["limit", "harnesskit", "batch"].map((kind) => `${transport} ${kind}`);
    try {
      for (const name of names) running.push(await startIsolated(module, name, directory));
      const [limit, ours, batch] = names;
      const pair = running.slice(0, 2);
      for (const { throughput } of pair) await throughput(action, { count: count * 2, inFlight });
      await running[2].throughput(action, { count: 200, inFlight: 1 });
      const perSecond = await inRounds(pair, rounds, ({ throughput }) =>
        throughput(action, { count, inFlight }),
      );
      const alone = await inRounds(pair, rounds, ({ latency }) => latency(action, { count: count / 10 }));
      const single = { count: count / 5, inFlight: 1 };
      const byOne = await inRounds(running.slice(1), rounds, async ({ name, throughput }) =>
        name === batch
          ? batchSize * (await throughput(action, { count: count / 50, inFlight: 1 }))
          : throughput(action, single),
      );
      const [least, leastBatch] = wanted[transport];
      rows.push([
        transport,
        Math.round(median(perSecond.get(limit))).toLocaleString("en"),
        Math.round(median(perSecond.get(ours))).toLocaleString("en"),
        `${ratio(perSecond, ours, limit).toFixed(2)}× (≥ ${least})`,
        `${median(alone.get(limit)).toFixed(0)} µs`,
        `${median(alone.get(ours)).toFixed(0)} µs, ${ratio(alone, ours, limit).toFixed(2)}×`,
        `${ratio(byOne, batch, ours).toFixed(1)}×${leastBatch && ` (≥ ${leastBatch})`}`,
      ]);
    } finally {
      for (const { close } of running) await close();
    }
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
console.log(
  `${count} decisions, ${inFlight} in flight, median of ${rounds} rounds, Node ${process.version}\n`,
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
