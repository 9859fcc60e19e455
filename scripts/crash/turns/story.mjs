import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleOf } from "../bundle.mjs";
import { must } from "../violation.mjs";
import { postgresUrl } from "../workers/postgres.mjs";
import { checkChat, checkThread } from "./check.mjs";

/** `maxSteps`: steps of its store until a process dies, at most. Those of a turn of a thread are its writes, more than a step of it has. */
const kinds = {
  thread: { program: new URL("thread-life.mjs", import.meta.url), check: checkThread, maxSteps: 14 },
  chat: { program: new URL("chat-life.mjs", import.meta.url), check: checkChat, maxSteps: 40 },
};
/** How long a life may take, its wait for the lease of the one before included. */
const patienceMs = 60_000;
/** How long a process is stopped: longer than a lease. */
const sleepMs = 2500;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const live = async (program, place, armed) => {
  const args = [await bundleOf(program), JSON.stringify(place), JSON.stringify(armed)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  const timer = setTimeout(() => child.kill("SIGTERM"), patienceMs);
  const exited = once(child, "close").finally(() => clearTimeout(timer));
  return { child, exited };
};

/** Until the model was asked: the turn is there, and a process that wakes does not begin another one. */
const begun = async (directory) => {
  const ledger = join(directory, "ledger");
  while (!existsSync(ledger) || !readFileSync(ledger, "utf8").includes("asked")) await pause(20);
};

/** Where a process dies: at a step of its store, or around what the model does for a summary. */
const placeOfDeath = (random, maxSteps, isLong) => {
  const isBefore = random.chance(0.5);
  if (isLong && random.chance(0.5)) return { after: 1, isBefore, atSummary: true };
  return { after: random.between(1, maxSteps), isBefore };
};

/**
 * Tells of turns whose processes die at steps of their store, and, where leases end by time, sleep past theirs while another one goes on.
 *
 * @param {"thread" | "chat"} kind
 * @param {"files" | "sqlite" | "postgres"} engine
 * @param {boolean} isLong the turn is longer than the model's context: it has summaries, and processes die around them, too
 */
export const tellTurnStory = (kind, engine, isLong) => async (random, deaths) => {
  const { program, check, maxSteps } = kinds[kind];
  const figures = { kills: 0, sleeps: 0, turns: 0, unknown: 0, summaries: 0 };
  while (figures.kills < deaths) {
    const directory = mkdtempSync(join(tmpdir(), "harness-turns-"));
    const url = engine === "postgres" ? await postgresUrl() : undefined;
    const place = { engine, directory, url, schema: `turns_${randomBytes(6).toString("hex")}`, isLong };
    try {
      for (let isOver = false; !isOver; ) {
        const armed = placeOfDeath(random, maxSteps, isLong);
        const { child, exited } = await live(program, place, figures.kills < deaths ? armed : null);
        const sleeps = engine !== "files" && random.chance(0.1);
        let other;
        if (sleeps) {
          await Promise.race([begun(directory), exited]);
          await pause(random.between(0, 400));
          child.kill("SIGSTOP");
          await pause(sleepMs);
          other = await live(program, place, null);
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
      const ledger = readFileSync(join(directory, "ledger"), "utf8").trimEnd().split("\n");
      const found = await check(place, ledger);
      for (const [figure, value] of Object.entries(found)) figures[figure] += value;
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  return figures;
};
