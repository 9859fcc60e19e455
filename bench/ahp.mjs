// Decisions of a harness on four transports, side by side with a hand-written echo on each.
// Usage: node bench/ahp.mjs [--processes 3] [--rounds 3] [--count 5000] [--in-flight 64]
import { transports } from "./ahp/contenders.mjs";
import { action } from "./ahp/messages.mjs";
import { measureIsolated } from "./lib/isolated.mjs";
import { inTempDir, micros, optionsFrom, perSecond, printTable, times } from "./lib/rounds.mjs";

const { processes, rounds, count, inFlight } = optionsFrom({
  processes: 3,
  rounds: 3,
  count: 5000,
  inFlight: 64,
});
const wanted = { stdio: "0.60", unix: "0.60", http: "0.60", ws: "0.75" };
const module = new URL("./ahp/contenders.mjs", import.meta.url);

const rows = await inTempDir(async (directory) => {
  const found = [];
  for (const transport of transports) {
    const names = ["limit", "harnesskit"].map((kind) => `${transport} ${kind}`);
    const [limit, ours] = names;
    const { loaded, alone } = await measureIsolated(
      { module, names, processes, rounds, directory },
      ({ throughput }) => throughput(action, { count: count * 2, inFlight }),
      {
        loaded: { measure: ({ throughput }) => throughput(action, { count, inFlight }) },
        alone: { measure: ({ latency }) => latency(action, { count: count / 10 }) },
      },
    );
    console.error(`${transport}: ${times(loaded, ours, limit)} of the limit`);
    found.push([
      transport,
      perSecond(loaded, limit),
      perSecond(loaded, ours),
      `${times(loaded, ours, limit)} (≥ ${wanted[transport]})`,
      micros(alone, limit),
      `${micros(alone, ours)}, ${times(alone, ours, limit)}`,
    ]);
  }
  return found;
});
printTable(
  ["", "limit, decisions/s", "harnesskit", "of the limit", "limit, latency alone", "harnesskit"],
  rows,
  `${count} decisions, ${inFlight} in flight, median of ${rounds} rounds in each of ${processes} processes`,
);
