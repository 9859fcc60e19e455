// A turn of the thread server, beside the AI SDK's `streamText` with the same model and tools; and many clients of `harness serve`.
// Usage: node bench/turn.mjs [--rounds 7] [--turns 100] [--clients 500] [--seconds 20]
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { inRounds, median, printTable, ratio } from "./lib/rounds.mjs";
import { inTempDir } from "./lib/thread-server.mjs";
import { contenders } from "./turn/alone.mjs";
import { crowd } from "./turn/crowd.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    turns: { type: "string", default: "100" },
    clients: { type: "string", default: "0" },
    seconds: { type: "string", default: "20" },
  },
});
const [rounds, turns, clients, seconds] = ["rounds", "turns", "clients", "seconds"].map((name) =>
  Number(values[name]),
);

const besideStreamText = (directory) => async () => {
  const running = contenders.map(({ name, start }) => ({
    name,
    ...start(mkdtempSync(join(directory, "threads-"))),
  }));
  for (const { measure } of running) await measure(turns);
  const figures = await inRounds(running, rounds, ({ measure }) => measure(turns));
  console.log(`${turns} turns, median of ${rounds} rounds, Node ${process.version}\n`);
  printTable(
    ["", "processor time of a turn", "of streamText", "wanted"],
    contenders.map(({ name, peer }) => [
      name,
      `${(median(figures.get(name)) / turns).toFixed(2)} ms`,
      peer === undefined ? "" : `${ratio(figures, name, peer).toFixed(2)}×`,
      name === "a turn, six tools" ? "≤ 2×" : "",
    ]),
  );
  for (const { close } of running) await close();
};

const manyClients = async () => {
  const rows = [];
  for (const lists of [false, true]) {
    const { perSecond, p99, processor } = await inTempDir((directory) =>
      crowd(directory, { clients, seconds, lists }),
    );
    rows.push([
      lists ? "turns and lists" : "turns",
      perSecond.toFixed(0),
      `${(p99 / 1000).toFixed(1)} s`,
      `${processor.toFixed(1)} ms`,
    ]);
  }
  console.log(
    `\n${clients} clients of harness serve for ${seconds} s (wanted with lists: ≥ 90 a second, p99 ≤ 7 s)\n`,
  );
  printTable(["each client", "turns a second", "p99 of a turn", "processor time of the server"], rows);
};

if (rounds > 0) await inTempDir((directory) => besideStreamText(directory)());
if (clients > 0) await manyClients();
