import { join } from "node:path";
import { openPostgresStore } from "@harnesskit/store-postgres";
import { openSqliteStore } from "@harnesskit/store-sqlite";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import Database from "libsql";
import pg from "pg";
import { ourConversation, theirConversation } from "../chat/contenders.mjs";
import { inTempDir } from "../lib/rounds.mjs";
import { withSchema } from "./server.mjs";

/** Each contender runs work with a turn on an empty store of its own. */
export const onPostgres = (url) => [
  {
    name: "harnesskit",
    run: (work) =>
      withSchema(url, async ({ schema }) => {
        const store = await openPostgresStore({ url, schema });
        const { turn, close } = ourConversation(store.graph);
        const result = await work(turn);
        await close();
        await store.close();
        return result;
      }),
  },
  {
    name: "LangGraph, PostgresSaver",
    run: (work) =>
      withSchema(url, async ({ schema }) => {
        const pool = new pg.Pool({ connectionString: url });
        const saver = new PostgresSaver(pool, undefined, { schema });
        await saver.setup();
        const { turn } = theirConversation(saver);
        const result = await work(turn);
        await pool.end();
        return result;
      }),
  },
];

const inDirectory = (work) => inTempDir((directory) => work(join(directory, "chat.db")));

export const onSqlite = () => [
  {
    name: "harnesskit",
    run: (work) =>
      inDirectory(async (file) => {
        const store = await openSqliteStore({ file });
        const { turn, close } = ourConversation(store);
        const result = await work(turn);
        await close();
        await store.close();
        return result;
      }),
  },
  {
    // On the same engine as ours: libsql has the interface of better-sqlite3.
    name: "LangGraph, SqliteSaver",
    run: (work) =>
      inDirectory(async (file) => {
        const database = new Database(file);
        const { turn } = theirConversation(new SqliteSaver(database));
        const result = await work(turn);
        database.close();
        return result;
      }),
  },
];
