// The JSON-RPC peer over stdio, side by side with a hand-written echo, vscode-jsonrpc and the MCP SDK.
// Usage: node bench/stdio.mjs [--processes 3] [--rounds 3] [--count 20000] [--in-flight 64]
import { measureIsolated } from "./lib/isolated.mjs";
import { demandLimit, micros, optionsFrom, perSecond, printTable, times } from "./lib/rounds.mjs";
import { contenders } from "./stdio/contenders.mjs";

const { processes, rounds, count, inFlight } = optionsFrom({
  processes: 3,
  rounds: 3,
  count: 20_000,
  inFlight: 64,
});
const names = contenders.map(({ name }) => name);
const module = new URL("./stdio/contenders.mjs", import.meta.url);
const { loaded, alone } = await measureIsolated(
  { module, names, processes, rounds },
  ({ throughput }) => throughput(undefined, { count: count * 2, inFlight }),
  {
    loaded: { measure: ({ throughput }) => throughput(undefined, { count, inFlight }) },
    alone: { measure: ({ latency }) => latency(undefined, { count: count / 10 }) },
  },
);
const ours = "harnesskit";
printTable(
  ["", "calls/s", "harnesskit is", "median latency alone", "harnesskit's is"],
  names.map((name) => [
    name,
    perSecond(loaded, name),
    times(loaded, ours, name),
    micros(alone, name),
    times(alone, ours, name),
  ]),
  `${count} calls, ${inFlight} in flight, median of ${rounds} rounds in each of ${processes} processes`,
);
demandLimit(loaded);
