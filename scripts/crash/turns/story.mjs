import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryRoot } from "../../lib/root.mjs";
import { bundleOf } from "../bundle.mjs";
import { must } from "../violation.mjs";
import { postgresUrl } from "../workers/postgres.mjs";
import { openTurnThreads, turnEvents } from "./stores.mjs";
import { turnSteps } from "./turn.mjs";

const program = new URL("life.mjs", import.meta.url);
/** Writes until a process dies, at most: more than a step has. */
const maxWrites = 14;
/** How long a life may take, its wait for the lease of the one before included. */
const patienceMs = 60_000;
/** How long a process is stopped: longer than a lease. */
const sleepMs = 2500;

/** True when all that the processes are made of is there. */
export const isBuilt = () =>
  ["wire", "thread-server", "store-postgres"].every((name) =>
    existsSync(join(repositoryRoot, "packages", name, "dist/index.js")),
  );

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const live = async (place, armed) => {
  const args = [await bundleOf(program), JSON.stringify(place), JSON.stringify(armed)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  const timer = setTimeout(() => child.kill("SIGTERM"), patienceMs);
  const exited = once(child, "close").finally(() => clearTimeout(timer));
  return { child, exited };
};

/** Compares the log of the turn with what the provider was asked, and with the effects. */
const check = (events, ledger) => {
  must(
    events.every(({ seq }, index) => seq === index + 1),
    "the numbers of the events have a gap",
  );
  const of = (type) => events.filter((event) => event.type === type);
  must(of("turn.started").length === 1, `${of("turn.started").length} turns began`);
  const ends = [...of("turn.completed"), ...of("turn.error")];
  must(ends.length === 1 && ends[0].data.status === "completed", `the turn ended: ${JSON.stringify(ends)}`);
  const steps = of("turn.step").map(({ data }) => data.step);
  must(JSON.stringify(steps) === JSON.stringify([...Array(turnSteps).keys()]), `the steps are ${steps}`);
  must(ends[0].data.turn.usage?.inputTokens === turnSteps, "the usage is not that of each step once");
  const acts = ledger.filter((line) => line.startsWith("act "));
  must(new Set(acts).size === acts.length, `an effect happened twice: ${acts}`);
  let recorded = 0;
  for (const line of ledger) {
    const [what, number] = line.split(" ");
    if (what === "life") recorded = Math.max(recorded, Number(number));
    if (what === "asked")
      must(Number(number) >= recorded, `step ${number} was paid again: ${recorded} were recorded`);
  }
  const calls = of("item.completed").filter(({ data }) => data.type === "tool_exec");
  must(calls.length === 3 * (turnSteps - 1), `${calls.length} calls ended`);
  return { turns: 1, unknown: calls.filter(({ data }) => data.item.data.status === "unknown").length };
};

/** Tells of turns whose servers die at their writes, and, over PostgreSQL, sleep past their lease while another one goes on. */
export const tellTurnStory = (engine) => async (random, deaths) => {
  const figures = { kills: 0, sleeps: 0, turns: 0, unknown: 0 };
  while (figures.kills < deaths) {
    const directory = mkdtempSync(join(tmpdir(), "harness-turns-"));
    const url = engine === "postgres" ? await postgresUrl() : undefined;
    const place = { engine, directory, url, schema: `turns_${randomBytes(6).toString("hex")}` };
    try {
      for (let isOver = false; !isOver; ) {
        const armed = { after: random.between(1, maxWrites), isBefore: random.chance(0.5) };
        const { child, exited } = await live(place, figures.kills < deaths ? armed : null);
        const sleeps = engine === "postgres" && random.chance(0.1);
        let other;
        if (sleeps) {
          await pause(random.between(300, 900));
          child.kill("SIGSTOP");
          await pause(sleepMs);
          other = await live(place, null);
          await pause(500);
          child.kill("SIGCONT");
          figures.sleeps++;
        }
        const ends = await Promise.all([exited, other?.exited]);
        for (const [code, signal] of ends.filter((end) => end !== undefined)) {
          must(
            signal === "SIGKILL" || code === 0,
            `a server ended by itself (${code ?? signal}) in ${directory}`,
          );
          if (signal === "SIGKILL") figures.kills++;
          else isOver = true;
        }
      }
      const { threads, close } = await openTurnThreads(place);
      const ledger = readFileSync(join(directory, "ledger"), "utf8").trimEnd().split("\n");
      const { turns, unknown } = check(await turnEvents(threads), ledger);
      figures.turns += turns;
      figures.unknown += unknown;
      await close();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  return figures;
};
