// A turn of the thread server, beside the AI SDK's `streamText` with the same model and tools.
// Usage: node bench/turn.mjs [--rounds 7] [--turns 100]
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { inRounds, median, printTable, ratio } from "./lib/rounds.mjs";
import { inTempDir } from "./lib/thread-server.mjs";
import { contenders } from "./turn/alone.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    turns: { type: "string", default: "100" },
  },
});
const [rounds, turns] = ["rounds", "turns"].map((name) => Number(values[name]));

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

await inTempDir((directory) => besideStreamText(directory)());
