// The JSON-RPC peer over stdio, side by side with a hand-written echo, vscode-jsonrpc and the MCP SDK.
// Usage: node bench/stdio.mjs [--rounds 7] [--count 20000] [--in-flight 64]
import {
  demandLimit,
  inRounds,
  latency,
  micros,
  optionsFrom,
  perSecond,
  printTable,
  throughput,
  times,
} from "./lib/rounds.mjs";
import { contenders } from "./stdio/contenders.mjs";

const { rounds, count, inFlight } = optionsFrom({ rounds: 7, count: 20_000, inFlight: 64 });
const running = await Promise.all(contenders.map(async ({ name, start }) => ({ name, ...(await start()) })));
try {
  for (const { call } of running) await throughput(call, { count: count / 2, inFlight });
  const loaded = await inRounds(running, rounds, ({ call }) => throughput(call, { count, inFlight }));
  const alone = await inRounds(running, rounds, ({ call }) => latency(call, { count: count / 10 }));
  const ours = "harnesskit";
  printTable(
    ["", "calls/s", "harnesskit is", "median latency alone", "harnesskit's is"],
    running.map(({ name }) => [
      name,
      perSecond(loaded, name),
      times(loaded, ours, name),
      micros(alone, name),
      times(alone, ours, name),
    ]),
    `${count} calls, ${inFlight} in flight, median of ${rounds} rounds`,
  );
  demandLimit(loaded);
} finally {
  await Promise.all(running.map(({ close }) => close()));
}
