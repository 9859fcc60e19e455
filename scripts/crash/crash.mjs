import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { repositoryRoot } from "../lib/root.mjs";
import { Random } from "./random.mjs";

// All packages are built together.
if (!existsSync(join(repositoryRoot, "apps/cli/dist/bin.cjs"))) {
  process.stderr.write("crash: the programs are not built: npm run build\n");
  process.exit(2);
}
const { hubStory } = await import("./hub/story.mjs");
const { Story } = await import("./threads/story.mjs");
const { workersStory } = await import("./workers/story.mjs");

/** What dies: a server of threads, a hub and its agent, one of three hubs and two agents of one database, or one of three workers of one store. `perStory`: deaths in one directory. */
const kinds = {
  threads: { kills: 200, perStory: 10, tell: (random, deaths) => new Story(random).tell(deaths) },
  hub: { kills: 1000, perStory: 500, tell: hubStory("sqlite") },
  "hub-postgres": { kills: 300, perStory: 300, tell: hubStory("postgres") },
  "workers-sqlite": { kills: 1000, perStory: 40, tell: workersStory("sqlite") },
  "workers-postgres": { kills: 1000, perStory: 40, tell: workersStory("postgres") },
};

const fail = (problem) => {
  const usage = "[--only KIND,…] [--kills N] [--lanes N] [--seed N]";
  process.stderr.write(
    `crash: ${problem}: ${usage}; N is a whole number, KIND one of ${Object.keys(kinds).join(", ")}\n`,
  );
  process.exit(2);
};

const readOptions = () => {
  try {
    const text = { type: "string" };
    const options = { seed: text, lanes: text, only: text, kills: text };
    return parseArgs({ options }).values;
  } catch (error) {
    return fail(error.message);
  }
};

const given = readOptions();
const count = (name, fallback) => {
  const value = Number(given[name] ?? fallback);
  return Number.isInteger(value) && value > 0 ? value : fail(`--${name} is ${given[name]}`);
};
const only = given.only?.split(",") ?? Object.keys(kinds);
for (const name of only) if (!Object.hasOwn(kinds, name)) fail(`--only has ${name}`);
const seed = count("seed", 1 + (Date.now() % 1_000_000));
const lanes = count("lanes", 2);

/** Tells stories of one kind until there were enough deaths. Each has its own seed, which repeats it alone. */
async function crash(name) {
  const { tell, perStory, ...kind } = kinds[name];
  const kills = count("kills", kind.kills);
  const totals = {};
  let left = kills;
  let nextSeed = seed;
  let failed = false;
  // What is going on ends, and the figures are printed.
  process.once("SIGTERM", () => {
    left = 0;
  });

  async function lane() {
    while (left > 0 && !failed) {
      const deaths = Math.min(left, perStory);
      left -= deaths;
      const storySeed = nextSeed++;
      try {
        const figures = await tell(new Random(storySeed), deaths);
        for (const [figure, value] of Object.entries(figures)) totals[figure] = (totals[figure] ?? 0) + value;
        process.stderr.write(`${name}: ${totals.kills} of ${kills}\n`);
      } catch (error) {
        failed = true;
        process.exitCode = 1;
        const text = error?.name === "Violation" ? error.message : error?.stack;
        const again = `npm run crash -- --only ${name} --kills ${deaths} --seed ${storySeed} --lanes 1`;
        process.stdout.write(`VIOLATION (${name}, seed ${storySeed}): ${text}\nagain: ${again}\n`);
      }
    }
  }

  await Promise.all(Array.from({ length: lanes }, lane));
  const figures = Object.entries({ ...totals, violations: failed ? 1 : 0 });
  const text = figures.map(([figure, value]) => `${figure}: ${value}`).join(", ");
  process.stdout.write(`${name}: ${text} (seed ${seed})\n`);
}

for (const name of only) await crash(name);
