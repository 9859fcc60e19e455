// A turn of the thread server, beside the AI SDK's `streamText` with the same model and tools; and many clients of `harness serve`.
// Usage: node bench/turn.mjs [--rounds 7] [--turns 100] [--clients 500] [--seconds 20]
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { inRounds, inTempDir, median, optionsFrom, printTable, times } from "./lib/rounds.mjs";
import { contenders } from "./turn/alone.mjs";
import { crowd } from "./turn/crowd.mjs";

const { rounds, turns, clients, seconds } = optionsFrom({ rounds: 7, turns: 100, clients: 0, seconds: 20 });

const besideStreamText = async (directory) => {
  const running = contenders.map(({ name, start }) => ({
    name,
    ...start(mkdtempSync(join(directory, "threads-"))),
  }));
  for (const { measure } of running) await measure(turns);
  const figures = await inRounds(running, rounds, ({ measure }) => measure(turns));
  printTable(
    ["", "processor time of a turn", "of streamText", "wanted"],
    contenders.map(({ name, peer }) => [
      name,
      `${(median(figures.get(name)) / turns).toFixed(2)} ms`,
      peer === undefined ? "" : times(figures, name, peer),
      name === "a turn, six tools" ? "≤ 2×" : "",
    ]),
    `${turns} turns, median of ${rounds} rounds`,
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

if (rounds > 0) await inTempDir(besideStreamText);
if (clients > 0) await manyClients();
