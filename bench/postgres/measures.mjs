import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { openPostgresStore } from "@harnesskit/store-postgres";
import { ourConversation } from "../chat/contenders.mjs";
import { fill } from "../chat/sqlite-turns.mjs";
import { withSchema } from "./server.mjs";

const workerFile = fileURLToPath(new URL("./worker.mjs", import.meta.url));

/** Starts a worker process; settles with the rate of its turns. */
const startWorker = async (options) => {
  const child = fork(workerFile, [JSON.stringify(options)]);
  const exited = once(child, "exit").then(([code]) =>
    Promise.reject(new Error(`a worker ended with ${code}`)),
  );
  const [rate] = await Promise.race([once(child, "message"), exited]);
  exited.catch(() => {});
  return rate;
};

/** The rate of `count` workers together. */
export const rateOfWorkers = (url, count, options) =>
  withSchema(url, async ({ schema }) => {
    await (await openPostgresStore({ url, schema })).close();
    const workers = Array.from({ length: count }, (_, number) =>
      startWorker({ ...options, url, schema, name: `w${number}` }),
    );
    const rates = await Promise.all(workers);
    return rates.reduce((sum, rate) => sum + rate, 0);
  });

const changedRows = async (sql, schema) => {
  const [row] = await sql(
    `SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::int AS rows FROM pg_stat_all_tables
     WHERE schemaname = $1`,
    schema,
  );
  return row.rows;
};

/** Rows and bytes of write-ahead log of a turn behind a history. */
export const writesOfTurns = (url, { history, turns }) =>
  withSchema(url, async ({ schema, sql }) => {
    const run = async (work) => {
      // Closed connections have reported their rows.
      const store = await openPostgresStore({ url, schema });
      const conversation = ourConversation(store.graph);
      await work(store, conversation.turn);
      await conversation.close();
      await store.close();
      await new Promise((resolve) => setTimeout(resolve, 300));
    };
    await run((store) => fill(store.graph, "s", history));
    // Pages are written whole into the log the first time after a checkpoint.
    await sql("CHECKPOINT");
    await run(async (_, turn) => {
      for (let index = 0; index < turns; index++) await turn("s");
    });
    const lsn = async () => (await sql("SELECT pg_current_wal_insert_lsn() AS lsn"))[0].lsn;
    const [rows, begin] = [await changedRows(sql, schema), await lsn()];
    await run(async (_, turn) => {
      for (let index = 0; index < turns; index++) await turn("s");
    });
    const [bytes] = await sql("SELECT pg_wal_lsn_diff($1, $2)::int AS bytes", await lsn(), begin);
    return { rows: ((await changedRows(sql, schema)) - rows) / turns, bytes: bytes.bytes / turns };
  });
