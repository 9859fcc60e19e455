import pg from "pg";
import { describe, expect, it } from "vitest";
import { write } from "./support/samples.ts";
import { newSchema } from "./support/schema.ts";

type Schema = Awaited<ReturnType<typeof newSchema>>;

/** Another program that keeps the sessions locked until the end of the scope. */
const lockSessions = async ({ url, schema }: Schema) => {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE ${schema}.sessions IN ACCESS EXCLUSIVE MODE`);
  return { [Symbol.asyncDispose]: () => client.end() };
};

const messagesIn = async (store: Awaited<ReturnType<Schema["open"]>>) =>
  JSON.stringify((await store.graph.sessions.load("s"))?.state);

describe("a limit that is reached", () => {
  it.each([
    ["statementTimeoutMs", { statementTimeoutMs: 200 }, "timed_out"],
    ["lockTimeoutMs", { lockTimeoutMs: 200 }, "busy"],
  ])("%s ends a write that waits for another program, and nothing is written", async (_, limits, reason) => {
    await using schema = await newSchema();
    const store = await schema.open({ limits: { ...limits, maxAttempts: 1 } });
    await store.graph.sessions.save(write("s", ["one"]));
    {
      await using _lock = await lockSessions(schema);
      const late = store.graph.sessions.save(write("s", ["late"]));
      await expect(late).rejects.toMatchObject({ name: "StoreError", code: "store_failed", reason });
    }
    expect(await messagesIn(store)).toBe('{"messages":["one"]}');
    await store.graph.sessions.save(write("s", ["two"]));
    expect(await messagesIn(store)).toBe('{"messages":["two"]}');
  });

  it("a call that gets no connection of the pool in time fails, and the pool works again", async () => {
    await using schema = await newSchema();
    const store = await schema.open({
      limits: { maxConnections: 1, connectTimeoutMs: 200, maxAttempts: 1 },
    });
    await store.graph.sessions.save(write("s", ["one"]));
    const waiting = await (async () => {
      await using _lock = await lockSessions(schema);
      const first = store.graph.sessions.save(write("s", ["two"]));
      const second = store.graph.sessions.load("s");
      await expect(second).rejects.toMatchObject({ code: "store_failed", reason: "timed_out" });
      expect(store.stats().connections).toMatchObject({ total: 1, waiting: 0 });
      return { first };
    })();
    await waiting.first;
    expect(await messagesIn(store)).toBe('{"messages":["two"]}');
  });

  it("a disk that is full ends a turn with nothing of it stored, and the next one works", async () => {
    await using schema = await newSchema();
    const store = await schema.open();
    const lease = await store.graph.leases.acquire("s", { ttlMs: 60_000 });
    await store.graph.commit({ session: write("s", ["one"]), leases: [lease] });
    // What the server answers where an extension of a file fails.
    await schema.run(
      `CREATE FUNCTION store.no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
       END $$`,
    );
    await schema.run(
      "CREATE TRIGGER no_room BEFORE INSERT ON store.session_items FOR EACH ROW EXECUTE FUNCTION store.no_room()",
    );
    const commit = (message: string) =>
      store.graph.commit({ session: write("s", [message]), leases: [lease] });
    await expect(commit("two")).rejects.toMatchObject({ code: "store_full", reason: "disk_full" });
    expect(await messagesIn(store)).toBe('{"messages":["one"]}');
    await schema.run("DROP TRIGGER no_room ON store.session_items");
    await commit("three");
    expect(await messagesIn(store)).toBe('{"messages":["three"]}');
    await lease.release();
  });
});
