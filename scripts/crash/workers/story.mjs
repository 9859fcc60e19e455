import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { slowness } from "../slowness.mjs";
import { Conversation } from "./conversation.mjs";
import { Pool } from "./pool.mjs";
import { openStores } from "./stores.mjs";
import { ThreadClient } from "./thread.mjs";

const sessions = 3;

/** Three workers of one store, which die again and again, and clients that compare in the end. */
export class WorkersStory {
  #random;
  #place;

  /** @param {{ random: import("../random.mjs").Random, engine: "sqlite" | "postgres", url?: string, maxConnections?: number }} options */
  constructor({ random, engine, url, maxConnections }) {
    this.#random = random;
    const directory = mkdtempSync(join(tmpdir(), "harness-workers-"));
    const schema = `crash_${Math.floor(random.next() * 2 ** 40).toString(36)}_${process.pid}`;
    this.#place = { engine, directory, url, schema, maxConnections };
  }

  /** Goes on until `kills` workers have died; `faults` runs beside it, until its signal aborts. */
  async tell(kills, faults = async () => {}) {
    const random = this.#random;
    const place = { ...this.#place, patience: await slowness() };
    const store = await openStores(place);
    const pool = new Pool({ place, random, kills });
    const ending = new AbortController();
    try {
      await pool.open();
      const parts = { pool, store, random };
      const talks = Array.from(
        { length: sessions },
        (_, index) => new Conversation({ id: `s${index}`, ...parts }),
      );
      const thread = new ThreadClient(parts);
      let isOver = kills === 0 ? () => ending.signal.aborted : () => pool.left <= 0;
      const talk = async (conversation, index) => {
        for (let count = 0; !isOver(); count++) {
          await conversation.say(`${random.chance(0.5) ? "ask" : "chat"} ${index}-${count}`);
        }
      };
      const append = async () => {
        await thread.open();
        for (let count = 0; !isOver(); count++) await thread.run(`r${count}`);
      };
      const inflicted = faults({ signal: ending.signal, schema: this.#place.schema }).finally(() => {
        if (kills === 0) ending.abort();
      });
      await Promise.all([...talks.map(talk), append(), ...(kills === 0 ? [inflicted] : [])]);
      isOver = () => true;
      ending.abort();
      await inflicted;
      const effects = this.#effects();
      for (const conversation of talks) await conversation.check(effects);
      await thread.check();
      const figures = { kills: [...pool.deaths.values()].reduce((sum, count) => sum + count, 0) };
      for (const { counts } of [...talks, thread]) {
        for (const [name, count] of Object.entries(counts)) figures[name] = (figures[name] ?? 0) + count;
      }
      for (const [label, count] of pool.deaths) {
        const [op] = label.split(" ");
        figures[`in ${op}`] = (figures[`in ${op}`] ?? 0) + count;
        figures[`step ${label}`] = count;
      }
      return figures;
    } finally {
      ending.abort();
      await pool.close();
      await store.close().catch(() => {});
      rmSync(this.#place.directory, { recursive: true, force: true });
    }
  }

  #effects() {
    try {
      return readFileSync(join(this.#place.directory, "effects.txt"), "utf8").split("\n");
    } catch {
      return [];
    }
  }
}
