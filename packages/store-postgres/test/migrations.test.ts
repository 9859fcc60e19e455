import { describe, expect, it } from "vitest";
import { Database } from "../src/database.ts";
import { createGraphStore } from "../src/graph-store.ts";
import { migrate } from "../src/migrate.ts";
import { type MigrationStep, migrationSteps } from "../src/migrations/index.ts";
import { resolveOptions } from "../src/store-options.ts";
import { PostgresThreadStore } from "../src/thread-store.ts";
import { Wakes } from "../src/wakes.ts";
import { event, readAll, thread, write } from "./support/samples.ts";
import { newSchema } from "./support/schema.ts";

/** Migrates a schema as a program that knows these steps would. */
const migrateTo = async (
  { url, schema }: { readonly url: string; readonly schema: string },
  steps: readonly MigrationStep[],
) => {
  const database = new Database(resolveOptions({ url, schema, limits: { maxConnections: 1 } }));
  try {
    await migrate(database, steps);
  } finally {
    await database.close();
  }
};

const next = (worksWith: number): MigrationStep[] => {
  const version = migrationSteps.length + 1;
  return [...migrationSteps, { version, sql: "ALTER TABLE store.sessions ADD COLUMN note text", worksWith }];
};

describe("migrations", () => {
  it("of programs that start at once, one migrates", async () => {
    await using schema = await newSchema();
    const stores = await Promise.all(
      Array.from({ length: 8 }, () => schema.open({ limits: { maxConnections: 1 } })),
    );
    await Promise.all(stores.map(({ graph }, index) => graph.sessions.save(write(`s${index}`, [index]))));
    expect(await schema.run("SELECT version FROM store.migrations")).toEqual(
      migrationSteps.map(({ version }) => ({ version })),
    );
    expect(await stores[0]?.graph.sessions.list()).toHaveLength(8);
  });

  it("a program of this version holds its session and thread while one of the next migrates, and starts again beside it", async () => {
    await using schema = await newSchema();
    const steps = next(1);
    await migrateTo(schema, migrationSteps);
    const { url, schema: name } = schema;
    const old = new Database(resolveOptions({ url, schema: name, limits: { maxConnections: 2 } }));
    const wakes = new Wakes(old);
    const oldGraph = createGraphStore(old, wakes);
    const oldThreads = new PostgresThreadStore(old, wakes);
    const lease = await oldGraph.leases.acquire("s", { ttlMs: 60_000 });
    await oldGraph.commit({ session: write("s", ["old"]), leases: [lease] });
    await oldThreads.create(thread("ses_1"));
    await oldThreads.lease("ses_1");
    await oldThreads.append("ses_1", [event("ses_1", 1)]);
    // The new program starts, and migrates, while the old one holds a session and a thread.
    await migrateTo(schema, steps);
    const { graph, threads } = await schema.open();
    await expect(graph.leases.acquire("s", { ttlMs: 1000 })).rejects.toMatchObject({ code: "lease_taken" });
    await oldGraph.commit({ session: write("s", ["old", "again"]), leases: [lease] });
    await oldThreads.append("ses_1", [event("ses_1", 2)]);
    expect((await readAll(threads.events("ses_1"))).map(({ seq }) => seq)).toEqual([1, 2]);
    // It starts once more, as when one process of the old version is restarted during the rollout.
    await migrate(old);
    await lease.release();
    await oldThreads.close();
    await threads.lease("ses_1");
    await threads.append("ses_1", [event("ses_1", 3)], { flush: true });
    const then = await graph.leases.acquire("s", { ttlMs: 60_000 });
    await graph.commit({ session: write("s", ["old", "again", "new"]), leases: [then] });
    const state = (await oldGraph.sessions.load("s"))?.state;
    expect(JSON.stringify(state)).toBe('{"messages":["old","again","new"]}');
    await oldGraph.close();
    await wakes.close();
    await old.close();
  });

  it("a program is refused by a schema that does not work with its version", async () => {
    await using schema = await newSchema();
    await migrateTo(schema, next(migrationSteps.length + 1));
    await expect(schema.open()).rejects.toMatchObject({
      name: "StoreError",
      code: "store_failed",
      reason: "newer_schema",
    });
  });

  it("a step that fails changes nothing, and a program that only checks is told to migrate", async () => {
    await using schema = await newSchema();
    const broken = [
      ...migrationSteps,
      { version: migrationSteps.length + 1, sql: "SELECT 1 / 0", worksWith: 1 },
    ];
    await expect(migrateTo(schema, broken)).rejects.toMatchObject({ code: "store_failed", reason: "failed" });
    await expect(schema.open({ migrate: "check" })).rejects.toMatchObject({
      name: "StoreError",
      reason: "older_schema",
    });
    expect(await schema.run("SELECT 1 FROM pg_namespace WHERE nspname = $1", schema.schema)).toEqual([]);
  });
});
