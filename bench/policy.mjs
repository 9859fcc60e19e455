// Decisions by a policy file, against the same rules written by hand; the judge of commands; a harness with and without.
// Usage: node bench/policy.mjs [--rounds 7] [--count 10000] [--in-flight 64]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startIsolated } from "./lib/isolated.mjs";
import { inRounds, median, printTable, ratio } from "./lib/rounds.mjs";
import { decisionsPerCall } from "./policy/contenders.mjs";

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

const module = new URL("./policy/contenders.mjs", import.meta.url);
const directory = mkdtempSync(join(tmpdir(), "bench-policy-"));

/** Measures contenders side by side, each warm and in a process of its own. */
const measure = async (names, options) => {
  const running = [];
  try {
    for (const name of names) running.push(await startIsolated(module, name, directory));
    for (const { throughput } of running) await throughput(undefined, options);
    return await inRounds(running, rounds, ({ throughput }) => throughput(undefined, options));
  } finally {
    for (const { close } of running) await close();
  }
};

/** Microseconds of one decision. */
const eachOf = (figures, name) => (1e6 / (median(figures.get(name)) * decisionsPerCall)).toFixed(2);

try {
  const inProcess = { count: Math.ceil((count * 5) / decisionsPerCall), inFlight: 1 };
  const decided = await measure(["by hand", "policy", "shipped policy, a command"], inProcess);
  const judged = await measure(["command"], {
    count: Math.ceil(count / decisionsPerCall),
    inFlight: 1,
  });
  const servedNames = ["served, no policy", "served, 200 rules", "served, shipped policy"];
  const served = await measure(servedNames, { count, inFlight });
  console.log(`median of ${rounds} rounds, ${inFlight} in flight where served, Node ${process.version}\n`);
  printTable(
    ["a decision in the process", "µs", "against by hand"],
    [...decided.keys()].map((name) => [
      name === "policy" ? "200 rules, 50 with CEL" : name,
      eachOf(decided, name),
      name === "policy" ? `${ratio(decided, "by hand", name).toFixed(1)}× (≤ 10)` : "",
    ]),
  );
  console.log();
  printTable(
    ["judging a command", "µs"],
    [...judged.keys()].map((name) => [name, eachOf(judged, name)]),
  );
  console.log();
  printTable(
    ["over a Unix socket", "decisions/s", "against no policy"],
    servedNames.map((name, index) => [
      name,
      Math.round(median(served.get(name))).toLocaleString("en"),
      `${ratio(served, name, servedNames[0]).toFixed(2)}×${index === 1 ? " (≥ 0.50)" : ""}`,
    ]),
  );
  // Even a busy machine, which makes all figures worse, gives less.
  if (ratio(decided, "by hand", "policy") > 15) {
    console.error("\na decision takes more than 15 times as long as the same rules written by hand");
    process.exitCode = 1;
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
