import { stat } from "node:fs/promises";
import { join } from "node:path";
import { openSqliteStore } from "@harnesskit/store-sqlite";
import Database from "libsql";
import { inTempDir } from "../lib/rounds.mjs";
import { question } from "./contenders.mjs";

/** Fills a session with messages, in one write. */
export const fill = async (store, session, count) => {
  const messages = Array.from({ length: count }, () => question);
  const changes = { fields: {}, lists: { messages: { keep: 0, items: messages } }, removed: [] };
  await store.sessions.save({
    sessionId: session,
    schemaVersion: "",
    state: { messages },
    baseVersion: null,
    changes,
  });
};

/** Has the file count every row that is written, by triggers. */
const countRows = (database) => {
  const tables = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all();
  database.exec("CREATE TABLE bench_rows (count INTEGER NOT NULL); INSERT INTO bench_rows VALUES (0);");
  for (const { name } of tables) {
    for (const verb of ["INSERT", "UPDATE", "DELETE"]) {
      database.exec(
        `CREATE TRIGGER "bench_${verb}_${name}" AFTER ${verb} ON "${name}" BEGIN UPDATE bench_rows SET count = count + 1; END;`,
      );
    }
  }
  return () => database.prepare("SELECT count FROM bench_rows").get().count;
};

/** What a turn writes into the file behind a history: rows, and bytes of the write-ahead log. `makeTurns` gives the turn. */
export const writesPerTurn = async (makeTurns, { history, turns }) => {
  const measure = (run) =>
    inTempDir(async (directory) => {
      const file = join(directory, "chat.db");
      const store = await openSqliteStore({ file, sync: "none" });
      const database = new Database(file);
      try {
        if (history > 0) await fill(store, "s", history);
        const { turn, close } = makeTurns(store);
        await turn("s");
        const figure = await run({ file, database, turn: () => turn("s") });
        await close();
        return figure;
      } finally {
        database.close();
        await store.close();
      }
    });
  const bytes = await measure(async ({ file, database, turn }) => {
    database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
    for (let index = 0; index < turns; index++) await turn();
    return (await stat(`${file}-wal`)).size / turns;
  });
  const rows = await measure(async ({ database, turn }) => {
    const count = countRows(database);
    await turn();
    const before = count();
    for (let index = 0; index < turns; index++) await turn();
    return (count() - before) / turns;
  });
  return { bytes, rows };
};
