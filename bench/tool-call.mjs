// A tool call of a turn, through thread server, policy, core and agent, side by side with the core's call alone.
// Usage: node bench/tool-call.mjs [--rounds 7] [--count 1000]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startIsolated } from "./lib/isolated.mjs";
import { inRounds, median, printTable, ratio } from "./lib/rounds.mjs";
import { smallInput } from "./runtime/messages.mjs";
import { contenders } from "./tool-call/contenders.mjs";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "7" }, count: { type: "string", default: "1000" } },
});
const rounds = Number(values.rounds);
const count = Number(values.count);
const inFlight = 16;

const module = new URL("./tool-call/contenders.mjs", import.meta.url);
const directory = mkdtempSync(join(tmpdir(), "bench-tool-call-"));
const running = [];
try {
  for (const [index, { name }] of contenders.entries()) {
    running.push(await startIsolated(module, name, mkdtempSync(join(directory, `${index}-`))));
  }
  for (const { throughput } of running) await throughput(smallInput, { count, inFlight });
  const perSecond = await inRounds(running, rounds, ({ throughput }) =>
    throughput(smallInput, { count, inFlight }),
  );
  const alone = await inRounds(running, rounds, ({ latency }) => latency(smallInput, { count: count / 10 }));
  console.log(`${count} calls, ${inFlight} in flight, median of ${rounds} rounds, Node ${process.version}\n`);
  printTable(
    ["", "calls/s", "of core.call", "of it judged and recorded", "median latency alone", "of core.call's"],
    contenders.map(({ name }) => [
      name,
      Math.round(median(perSecond.get(name))).toLocaleString("en"),
      `${ratio(perSecond, name, "core.call").toFixed(2)}×`,
      `${ratio(perSecond, name, "core.call, judged and recorded").toFixed(2)}×`,
      `${median(alone.get(name)).toFixed(0)} µs`,
      `${ratio(alone, name, "core.call").toFixed(2)}×`,
    ]),
  );
} finally {
  for (const { close } of running) await close();
  rmSync(directory, { recursive: true, force: true });
}
