import { existsSync } from "node:fs";
import { Random } from "../crash/random.mjs";
import { option } from "../lib/report.mjs";
import { isBuilt } from "./built.mjs";
import { cellsOf, Tally } from "./tally.mjs";

const rounds = Number(option("rounds", "128"));
const seed = Number(option("seed", String(Date.now() % 1_000_000)));
const lanes = Number(option("lanes", "2"));

const refuse = (text) => {
  process.stderr.write(`faults: ${text}\n`);
  process.exit(2);
};
if (![rounds, lanes].every((value) => Number.isInteger(value) && value > 0) || !Number.isInteger(seed))
  refuse("--rounds N, --lanes N and --seed N are whole numbers");
if (!existsSync("/proc/self/environ")) refuse("processes are looked for in /proc, and this system has none");
if (!isBuilt()) refuse("the packages are not built: npm run build");
const { Story } = await import("./story.mjs");

const total = new Tally();
let left = rounds;
let nextSeed = seed;
let failed = false;

/** Cells in an order of their own. */
const shuffled = (cells, random) =>
  cells
    .map((cell) => ({ cell, key: random.next() }))
    .sort((a, b) => a.key - b.key)
    .map(({ cell }) => cell);

/** One story after the other. Each has its own seed, which repeats it alone. */
async function lane() {
  while (left > 0 && !failed) {
    const storySeed = nextSeed++;
    const random = new Random(storySeed);
    const cells = shuffled(cellsOf(Math.abs(storySeed)), random).slice(0, left);
    left -= cells.length;
    const tally = new Tally();
    try {
      await new Story({ random, tally }).tell(cells);
    } catch (error) {
      failed = true;
      process.exitCode = 1;
      const text = error?.name === "Violation" ? error.message : error?.stack;
      process.stdout.write(`VIOLATION (seed ${storySeed}): ${text}\n`);
      process.stdout.write(
        `again: npm run faults -- --rounds ${cells.length} --seed ${storySeed} --lanes 1\n`,
      );
    }
    total.add(tally);
  }
}

await Promise.all(Array.from({ length: lanes }, lane));
process.stdout.write(`${total.table}\n`);
process.stdout.write(`faults: ${total.times}, violations: ${failed ? 1 : 0} (seed ${seed})\n`);
