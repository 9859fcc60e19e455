// Requests of a shell over HTTP: the engine beside a bare node:http and beside Express with ajv.
// Usage: node bench/openharness.mjs [--processes 5] [--rounds 5] [--count 10000] [--in-flight 64]
import { measureIsolated } from "./lib/isolated.mjs";
import { micros, optionsFrom, perSecond, printTable, times } from "./lib/rounds.mjs";

const { processes, rounds, count, inFlight } = optionsFrom({
  processes: 5,
  rounds: 5,
  count: 10_000,
  inFlight: 64,
});
const titles = { bare: "node:http, parsed and answered", express: "Express with ajv", engine: "harnesskit" };
const names = Object.keys(titles);
const module = new URL("./openharness/contenders.mjs", import.meta.url);
const { loaded, alone } = await measureIsolated(
  { module, names, processes, rounds },
  ({ throughput }) => throughput(undefined, { count: count * 3, inFlight }),
  {
    loaded: { measure: ({ throughput }) => throughput(undefined, { count, inFlight }) },
    alone: { measure: ({ latency }) => latency(undefined, { count: count / 10 }) },
  },
);
const cell = (name, base, wanted) => (name === "engine" ? `${times(loaded, name, base)} (${wanted})` : "");
printTable(
  ["", "requests/s", "of node:http", "of Express", "median latency alone"],
  names.map((name) => [
    titles[name],
    perSecond(loaded, name),
    cell(name, "bare", "≥ 0.5"),
    cell(name, "express", "≥ 2"),
    micros(alone, name),
  ]),
  `${count} requests, ${inFlight} in flight, median of ${rounds} rounds in each of ${processes} processes`,
);
