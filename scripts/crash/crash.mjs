import { existsSync } from "node:fs";
import { join } from "node:path";
import { option } from "../lib/report.mjs";
import { repositoryRoot } from "../lib/root.mjs";
import { Random } from "./random.mjs";
import { Story } from "./story.mjs";
import { tellTurnStory } from "./turns/story.mjs";

const binPath = join(repositoryRoot, "apps/cli/dist/bin.cjs");

/** What dies: a server of threads, a hub and its agent, one of three hubs and two agents of one database, or one of three workers of one store. `perStory`: deaths in one directory. */
const kinds = {
  threads: {
    kills: 200,
    perStory: 10,
    tell: async (random, deaths) => new Story({ random, binPath }).tell(deaths),
  },
  hub: { kills: 1000, perStory: 500, tell: hub("sqlite") },
  "hub-postgres": { kills: 300, perStory: 300, tell: hub("postgres") },
  "turns-files": turns("thread", "files"),
  "turns-postgres": turns("thread", "postgres"),
  "chats-sqlite": turns("chat", "sqlite"),
  "chats-postgres": turns("chat", "postgres"),
  "summaries-files": turns("thread", "files", true),
  "summaries-sqlite": turns("chat", "sqlite", true),
  ...Object.fromEntries(["sqlite", "postgres"].map((engine) => [`workers-${engine}`, workers(engine)])),
};

/** A hub with files, or three with one database. Imported when it is asked for: its packages must be built. */
function hub(engine) {
  return async (random, deaths) => (await import("./hub.mjs")).tellHubStory(engine)(random, deaths);
}

/** Turns of ten steps, of a thread or a chat; long ones have summaries. */
function turns(kind, engine, isLong = false) {
  return {
    kills: 1000,
    perStory: 50,
    tell: tellTurnStory(kind, engine, isLong),
  };
}

/** Three workers of one store, for conversations and threads. */
function workers(engine) {
  return {
    kills: 1000,
    perStory: 40,
    tell: async (random, deaths) => {
      const { WorkersStory } = await import("./workers/story.mjs");
      const { postgresUrl } = await import("./workers/postgres.mjs");
      const url = engine === "postgres" ? await postgresUrl() : undefined;
      return new WorkersStory({ random, engine, url }).tell(deaths);
    },
  };
}

const flags = ["--seed", "--lanes", "--only", "--kills", "--steps"];
const isFlag = (argument) => flags.includes(argument.split("=")[0]);
const isKnownFlags = process.argv.slice(2).every((argument) => !argument.startsWith("-") || isFlag(argument));
const seed = Number(option("seed", String(Date.now() % 1_000_000)));
const lanes = Number(option("lanes", "2"));
const only = option("only", Object.keys(kinds).join(",")).split(",");
const killsOf = (name) => Number(option("kills", String(kinds[name]?.kills)));
const isCount = (value) => Number.isInteger(value) && value > 0;
const areKnown = only.every((name) => Object.hasOwn(kinds, name));
if (!isKnownFlags || !areKnown || ![lanes, ...only.map(killsOf)].every(isCount) || !Number.isInteger(seed)) {
  process.stderr.write(
    `crash: [--only KIND,…] [--kills N] [--lanes N] [--seed N] [--steps]; N is a whole number, KIND one of ${Object.keys(kinds).join(", ")}\n`,
  );
  process.exit(2);
}
// All packages are built together.
if (!existsSync(binPath)) {
  process.stderr.write("crash: the programs are not built: npm run build\n");
  process.exit(2);
}

/** Tells stories of one kind until there were enough deaths. Each has its own seed, which repeats it alone. */
async function crash(name) {
  const totals = {};
  let left = killsOf(name);
  let nextSeed = seed;
  let failed = false;
  // What is going on ends, and the figures are printed.
  process.once("SIGTERM", () => {
    left = 0;
  });

  async function lane() {
    while (left > 0 && !failed) {
      const deaths = Math.min(left, kinds[name].perStory);
      left -= deaths;
      const storySeed = nextSeed++;
      try {
        const figures = await kinds[name].tell(new Random(storySeed), deaths);
        for (const [figure, value] of Object.entries(figures)) totals[figure] = (totals[figure] ?? 0) + value;
        process.stderr.write(`${name}: ${totals.kills} of ${killsOf(name)}\n`);
      } catch (error) {
        failed = true;
        process.exitCode = 1;
        const text = error?.name === "Violation" ? error.message : error?.stack;
        process.stdout.write(`VIOLATION (${name}, seed ${storySeed}): ${text}\n`);
        process.stdout.write(
          `again: npm run crash -- --only ${name} --kills ${deaths} --seed ${storySeed} --lanes 1\n`,
        );
      }
    }
  }

  await Promise.all(Array.from({ length: lanes }, lane));
  const isStep = ([figure]) => figure.startsWith("step ");
  const lines = Object.entries(totals);
  const figures = lines.filter((line) => !isStep(line)).map(([figure, value]) => `${figure}: ${value}`);
  process.stdout.write(`${name}: ${figures.join(", ")}, violations: ${failed ? 1 : 0} (seed ${seed})\n`);
  if (process.argv.includes("--steps")) {
    for (const [figure, value] of lines.filter(isStep).sort())
      process.stdout.write(`  ${figure}: ${value}\n`);
  }
}

for (const name of only) await crash(name);
