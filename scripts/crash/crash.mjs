import { existsSync } from "node:fs";
import { join } from "node:path";
import { option } from "../lib/report.mjs";
import { repositoryRoot } from "../lib/root.mjs";
import { Random } from "./random.mjs";
import { Story } from "./story.mjs";

/** Deaths in one directory. */
const killsPerStory = 10;

const binPath = join(repositoryRoot, "apps/cli/dist/bin.js");
const kills = Number(option("kills", "200"));
const seed = Number(option("seed", String(Date.now() % 1_000_000)));
const lanes = Number(option("lanes", "2"));
if (![kills, lanes].every((value) => Number.isInteger(value) && value > 0) || !Number.isInteger(seed)) {
  process.stderr.write("crash: --kills N, --lanes N and --seed N are whole numbers\n");
  process.exit(2);
}
if (!existsSync(binPath)) {
  process.stderr.write("crash: the program is not built: npm run build\n");
  process.exit(2);
}

const totals = { kills: 0, restarts: 0, events: 0, answers: 0, retries: 0, actions: 0, unknown: 0 };
let left = kills;
let nextSeed = seed;
let failed = false;

/** One story after the other. Each has its own seed, which repeats it alone. */
async function lane() {
  while (left > 0 && !failed) {
    const deaths = Math.min(left, killsPerStory);
    left -= deaths;
    const storySeed = nextSeed++;
    try {
      const figures = await new Story({ random: new Random(storySeed), binPath }).tell(deaths);
      for (const name of Object.keys(totals)) totals[name] += figures[name];
    } catch (error) {
      failed = true;
      process.exitCode = 1;
      const text = error?.name === "Violation" ? error.message : error?.stack;
      process.stdout.write(`VIOLATION (seed ${storySeed}): ${text}\n`);
      process.stdout.write(`again: npm run crash -- --kills ${deaths} --seed ${storySeed} --lanes 1\n`);
    }
  }
}

await Promise.all(Array.from({ length: lanes }, lane));
const figures = Object.entries(totals).map(([name, value]) => `${name}: ${value}`);
process.stdout.write(`${figures.join(", ")}, violations: ${failed ? 1 : 0} (seed ${seed})\n`);
