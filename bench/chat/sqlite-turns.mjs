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

/** Bytes of the write-ahead log of a turn behind a history. `makeTurns` gives the turn. */
export const logOfTurn = (makeTurns, { history, turns }) =>
  inTempDir(async (directory) => {
    const file = join(directory, "chat.db");
    const store = await openSqliteStore({ file, sync: "none" });
    const database = new Database(file);
    try {
      await fill(store, "s", history);
      const { turn, close } = makeTurns(store);
      await turn("s");
      database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
      for (let index = 0; index < turns; index++) await turn("s");
      const { size } = await stat(`${file}-wal`);
      await close();
      return size / turns;
    } finally {
      database.close();
      await store.close();
    }
  });
