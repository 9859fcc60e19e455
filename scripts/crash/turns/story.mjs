import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bundleOf } from "../bundle.mjs";
import { openStores, urlOf } from "../stores.mjs";
import { must } from "../violation.mjs";
import { checkTurn } from "./check.mjs";
import { stateOf } from "./state.mjs";

const program = new URL("life.mjs", import.meta.url);
/** Steps of its store until a process dies, at most. */
const maxSteps = 40;
/** How long a life may take, its wait for the lease of the one before included. */
const patienceMs = 60_000;
/** How long a process is stopped: longer than a lease. */
const stoppedMs = 2500;

const live = async (kind, place, armed) => {
  const args = [await bundleOf(program), kind, JSON.stringify(place), JSON.stringify(armed)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  const timer = setTimeout(() => child.kill("SIGTERM"), patienceMs);
  const exited = once(child, "close").finally(() => clearTimeout(timer));
  return { child, exited };
};

/** Until the model was asked: the turn is there, and a process that wakes does not begin another one. */
const begun = async (ledger) => {
  while (!existsSync(ledger) || !readFileSync(ledger, "utf8").includes("asked")) await sleep(20);
};

/** Where a process dies: at a step of its store, or around what the model does for a summary. */
const placeOfDeath = (random, isLong) => {
  const isBefore = random.chance(0.5);
  if (isLong && random.chance(0.5)) return { operation: "summary", after: 1, isBefore };
  return { operation: "store", after: random.between(1, maxSteps), isBefore };
};

/**
 * Tells of turns whose processes die at steps of their store, and, where leases end by time, sleep past theirs while another one goes on.
 *
 * @param {"thread" | "chat"} kind
 * @param {"files" | "sqlite" | "postgres"} engine
 * @param {boolean} isLong the turn is longer than the model's context: it has summaries, and processes die around them, too
 */
export const turnStory = (kind, engine, isLong) => async (random, deaths) => {
  const figures = { kills: 0, sleeps: 0, turns: 0, unknown: 0, summaries: 0 };
  const url = await urlOf(engine);
  while (figures.kills < deaths) {
    const directory = mkdtempSync(join(tmpdir(), "harness-turns-"));
    const ledger = join(directory, "ledger");
    const place = { engine, directory, url, schema: `turns_${randomBytes(6).toString("hex")}`, isLong };
    try {
      for (let isOver = false; !isOver; ) {
        const armed = placeOfDeath(random, isLong);
        const { child, exited } = await live(kind, place, figures.kills < deaths ? armed : null);
        let other;
        if (engine !== "files" && random.chance(0.1)) {
          await Promise.race([begun(ledger), exited]);
          await sleep(random.between(0, 400));
          child.kill("SIGSTOP");
          await sleep(stoppedMs);
          other = await live(kind, place, null);
          await sleep(500);
          child.kill("SIGCONT");
          figures.sleeps++;
        }
        const ends = await Promise.all([exited, ...(other ? [other.exited] : [])]);
        for (const [code, signal] of ends) {
          const isKilled = signal === "SIGKILL";
          must(isKilled || code === 0, `a server ended by itself (${code ?? signal}) in ${directory}`);
          if (isKilled) figures.kills++;
          else isOver = true;
        }
      }
      const stores = await openStores(place);
      const state = await stateOf[kind](stores);
      await stores.close();
      const found = checkTurn(kind, state, readFileSync(ledger, "utf8").trimEnd().split("\n"), isLong);
      for (const [figure, value] of Object.entries(found)) figures[figure] += value;
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  return figures;
};
