// Tool calls over a Unix socket, side by side with a hand-written echo, vscode-jsonrpc and the MCP SDK.
// Usage: node bench/runtime.mjs [--processes 3] [--rounds 3] [--count 20000] [--in-flight 64]
import { measureIsolated } from "./lib/isolated.mjs";
import { demandLimit, inTempDir, micros, optionsFrom, perSecond, printTable, times } from "./lib/rounds.mjs";
import { contenders } from "./runtime/contenders.mjs";
import { inputOf, smallInput } from "./runtime/messages.mjs";

const { processes, rounds, count, inFlight } = optionsFrom({
  processes: 3,
  rounds: 3,
  count: 20_000,
  inFlight: 64,
});
const largeInput = inputOf(64 * 1024);
const large = { count: Math.ceil(count / 20), inFlight: 16 };
const names = contenders.map(({ name }) => name);
const module = new URL("./runtime/contenders.mjs", import.meta.url);
const { small, alone, whole } = await inTempDir((directory) =>
  measureIsolated(
    { module, names, directory, processes, rounds },
    async ({ throughput }) => {
      await throughput(smallInput, { count: count * 2, inFlight });
      await throughput(largeInput, large);
    },
    {
      small: { measure: ({ throughput }) => throughput(smallInput, { count, inFlight }) },
      alone: { measure: ({ latency }) => latency(smallInput, { count: count / 10 }) },
      whole: { measure: ({ throughput }) => throughput(largeInput, large) },
    },
  ),
);
printTable(
  [
    ...["", "calls/s", "of the limit", "core.call is", "median latency alone", "of the limit's"],
    ...["64 KiB/s", "of the limit"],
  ],
  names.map((name) => [
    name,
    perSecond(small, name),
    times(small, name, "limit"),
    times(small, "core.call", name),
    micros(alone, name),
    times(alone, name, "limit"),
    perSecond(whole, name),
    times(whole, name, "limit"),
  ]),
  `${count} calls, ${inFlight} in flight, median of ${rounds} rounds in each of ${processes} processes`,
);
demandLimit(small);
