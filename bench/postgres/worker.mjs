// One worker of a bench, in a process of its own. It gets `{ task, options }` and answers with what the task returns.
import { performance } from "node:perf_hooks";
import { openPostgresStore } from "@harnesskit/store-postgres";
import pg from "pg";
import { ourConversation } from "../chat/contenders.mjs";

const [url, schema] = process.argv.slice(2);

/** Calls `one` with `inFlight` at a time for a while. Returns calls per second. */
const rate = async (one, { seconds, inFlight }) => {
  const begin = performance.now();
  const end = begin + seconds * 1000;
  let count = 0;
  const lane = async (number) => {
    while (performance.now() < end) {
      await one(number, count);
      count++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, number) => lane(number)));
  return (count / (performance.now() - begin)) * 1000;
};

const tasks = {
  /** Turns of conversations, each lane in a session of its own. */
  async turns({ name, modelMs = 0, ...options }) {
    const store = await openPostgresStore({ url, schema });
    const { turn, close } = ourConversation(store.graph, modelMs);
    const perSecond = await rate((lane) => turn(`${name}-${lane}`), options);
    await close();
    await store.close();
    return perSecond;
  },
  /** The machine's limit: transactions as a turn's, without anything of ours. */
  async bare({ name, ...options }) {
    const pool = new pg.Pool({ connectionString: url, max: 10 });
    const table = `${schema}.bare`;
    const perSecond = await rate(async (lane, count) => {
      const client = await pool.connect();
      await client.query("BEGIN");
      await client.query(`INSERT INTO ${table} VALUES ($1, $2, $3)`, [
        `${name}-${lane}`,
        count,
        "x".repeat(300),
      ]);
      await client.query("COMMIT");
      client.release();
    }, options);
    await pool.end();
    return perSecond;
  },
};

process.once("message", async ({ task, options }) => {
  const result = await tasks[task](options);
  process.send({ result });
  process.disconnect();
});
