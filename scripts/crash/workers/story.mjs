import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openStores, urlOf } from "../stores.mjs";
import { Conversation } from "./conversation.mjs";
import { Pool } from "./pool.mjs";
import { ThreadClient } from "./thread.mjs";

/** How long an empty program takes on a quiet machine. */
const quietMs = 80;
const mostPatience = 12;

/** How much slower than a quiet machine this one is now, from 1 to 12: other programs take processor time, and leases must last longer. */
const measurePatience = async () => {
  const begin = performance.now();
  await promisify(execFile)(process.execPath, ["-e", "0"]);
  return Math.min(mostPatience, Math.max(1, Math.round((performance.now() - begin) / quietMs)));
};

const linesOf = (file) => (existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : []);

/**
 * Tells of three workers of one store, which die again and again until `kills` have, and of their clients, which compare in the end.
 *
 * @param {"sqlite" | "postgres"} engine
 */
export const workersStory = (engine) => async (random, kills) => {
  const directory = mkdtempSync(join(tmpdir(), "harness-workers-"));
  const schema = `crash_${Math.floor(random.next() * 2 ** 40).toString(36)}_${process.pid}`;
  const place = { engine, directory, url: await urlOf(engine), schema, patience: await measurePatience() };
  const stores = await openStores({ ...place, patience: mostPatience });
  const pool = new Pool({ place, random, kills });
  try {
    await pool.open();
    const parts = { pool, stores, random };
    const talks = [0, 1, 2].map((index) => new Conversation({ id: `s${index}`, ...parts }));
    const thread = new ThreadClient(parts);
    const talk = async (client, nameOf) => {
      for (let count = 0; pool.left > 0; count++) await client.say(nameOf(count));
    };
    await Promise.all([
      ...talks.map((client, index) =>
        talk(client, (count) => `${random.chance(0.5) ? "ask" : "chat"} ${index}-${count}`),
      ),
      talk(thread, (count) => `thread-${count}`),
    ]);
    const linesIn = (name) => linesOf(join(directory, name));
    for (const client of [...talks, thread]) await client.check(linesIn);
    const figures = { kills: 0, sleeps: pool.slept.size };
    const add = (figure, count) => {
      figures[figure] = (figures[figure] ?? 0) + count;
    };
    for (const { counts } of [...talks, thread])
      for (const [name, count] of Object.entries(counts)) add(name, count);
    for (const [label, count] of pool.deaths) {
      add("kills", count);
      add(`in ${label.split(" ")[0]}`, count);
    }
    return figures;
  } finally {
    await pool.close();
    await stores.close().catch(() => {});
    rmSync(directory, { recursive: true, force: true });
  }
};
