import type { StateRecord } from "@harnesskit/ahp-server";
import { describe, expect, it } from "vitest";
import {
  checkPostgresSchema,
  migratePostgresSchema,
  postgresSchemaStats,
  prunePostgresSchema,
} from "../src/index.ts";
import { migrationSteps } from "../src/migrations/index.ts";
import { event, thread, write } from "./support/samples.ts";
import { newSchema } from "./support/schema.ts";

const newest = migrationSteps.length;
const hour = 3_600_000;

const lifecycle = (second: number): StateRecord => ({
  kind: "run_lifecycle",
  owner: "",
  agent_id: "agent",
  payload: {
    ...{ run_id: "r", session_id: "s", status: "executing", prompt: "p" },
    updated_at: new Date(1_700_000_000_000 + second * 1000).toISOString(),
  },
});

describe("the administration of a schema", () => {
  it("checks and migrates, and says what it found", async () => {
    await using schema = await newSchema();
    const { url, schema: name } = schema;
    const missing = { schema: name, version: 0, programVersion: newest, worksWith: 0, status: "older" };
    expect(await checkPostgresSchema({ url, schema: name })).toEqual(missing);
    const current = { ...missing, version: newest, worksWith: 1, status: "current" };
    expect(await migratePostgresSchema({ url, schema: name })).toEqual({ before: missing, after: current });
    expect(await migratePostgresSchema({ url, schema: name })).toEqual({ before: current, after: current });
    await schema.run("INSERT INTO store.migrations (version, works_with) VALUES ($1, $1)", newest + 1);
    expect((await checkPostgresSchema({ url, schema: name })).status).toBe("unusable");
    await expect(migratePostgresSchema({ url, schema: name })).rejects.toMatchObject({
      name: "StoreError",
      reason: "newer_schema",
    });
  });

  it("prunes old conversations and threads, and leaves what waits, is held or is new", async () => {
    await using schema = await newSchema();
    const { graph, threads } = await schema.open();
    for (const id of ["old", "waits", "new"]) await graph.sessions.save(write(id, [id]));
    const frame = { graph_id: "g", node: "n", state: {}, parent: null };
    await graph.suspensions.save({
      kind: "put",
      record: {
        invocation_id: "inv_1",
        session_id: "waits",
        descriptor: { signal_id: "approved" },
        status: "suspended",
        is_delivered: false,
        suspended_at: new Date().toISOString(),
        frames: [frame],
        completed_positions: [],
      } as never,
    });
    for (const id of ["ses_old", "ses_held"]) {
      await threads.create(thread(id));
      const lease = await threads.lease(id);
      await threads.append(id, [event(id, 1)], { flush: true });
      if (id === "ses_old") await lease.release();
    }
    await threads.create({ ...thread("ses_new"), time: { created: Date.now(), updated: Date.now() } });
    await schema.run(
      "UPDATE store.sessions SET updated_at = now() - interval '2 days' WHERE session_id <> 'new'",
    );
    await schema.run("INSERT INTO store.leases VALUES ('k', 1, 'h', now() - interval '2 days')");
    await schema.run("INSERT INTO store.continuations VALUES ('c', 1, '', 1000, true, NULL)");
    const options = { url: schema.url, schema: schema.schema };
    const nothing = { sessions: 0, threads: 0, runStates: 0, requests: 0 };
    expect(await prunePostgresSchema(options)).toEqual({ ...nothing, leases: 1, continuations: 1 });
    const day = { sessionsOlderThanMs: 24 * hour, threadsOlderThanMs: 24 * hour };
    expect(await prunePostgresSchema(options, day)).toMatchObject({ sessions: 1, threads: 1 });
    expect((await graph.sessions.list()).map(({ session_id }) => session_id).sort()).toEqual([
      "new",
      "waits",
    ]);
    expect((await threads.list()).map(({ threadId }) => threadId).sort()).toEqual(["ses_held", "ses_new"]);
    const claim = { threadId: "ses_old", requestDigest: "d" };
    expect(await threads.claim("key", claim)).toEqual({ ...claim, isDeleted: true });
    await expect(prunePostgresSchema(options, { sessionsOlderThanMs: 5 })).rejects.toMatchObject({
      code: "invalid_argument",
    });
  });

  it("prunes the states of runs that no server has written for long, and a server that still has one writes all of it again", async () => {
    await using schema = await newSchema();
    const store = await schema.open();
    const [gone, idle, used] = await Promise.all(["gone", "idle", "used"].map(store.openRunState));
    for (const state of [gone, idle, used]) state?.append(lifecycle(1));
    await Promise.all([gone, idle, used].map((state) => state?.kept?.()));
    await schema.run("UPDATE store.run_states SET updated_at = now() - interval '31 days'");
    used?.append(lifecycle(2));
    await used?.kept?.();
    const options = { url: schema.url, schema: schema.schema };
    const month = { runStatesOlderThanMs: 30 * 24 * hour };
    expect(await prunePostgresSchema(options)).toMatchObject({ runStates: 0 });
    expect(await prunePostgresSchema(options, month)).toMatchObject({ runStates: 2 });
    expect(await store.runStates()).toEqual(["used"]);
    expect(await schema.run("SELECT DISTINCT name FROM store.run_state_records")).toHaveLength(1);
    await expect(prunePostgresSchema(options, { runStatesOlderThanMs: 5 })).rejects.toMatchObject({
      code: "invalid_argument",
    });
    idle?.append(lifecycle(2));
    await idle?.kept?.();
    idle?.append(lifecycle(3));
    await idle?.kept?.();
    expect([...(await store.openRunState("idle")).load()]).toEqual([1, 2, 3].map(lifecycle));
    expect([...(await store.openRunState("used")).load()]).toEqual([1, 2].map(lifecycle));
    expect((await postgresSchemaStats(options)).runStates.names).toBe(2);
  });

  it("counts what a monitor asks for", async () => {
    await using schema = await newSchema();
    const { graph, threads, approvals, openRunState } = await schema.open();
    const state = await openRunState("a");
    state.append(lifecycle(1));
    await state.kept?.();
    await schema.run("UPDATE store.run_states SET updated_at = now() - interval '1 day'");
    await graph.leases.acquire("s", { ttlMs: 60_000 });
    await threads.create(thread("ses_1"));
    await threads.lease("ses_1");
    await approvals.ask({
      origin: { agent: "a", session: "s" },
      subject: { tool: "bash", input: { command: "ls" } },
      rule: { id: "r", reason: "it runs a command" },
    });
    const stats = await postgresSchemaStats({ url: schema.url, schema: schema.schema });
    expect(stats).toMatchObject({
      ...{ suspended: 0, undelivered: 0, openApprovals: 1, leasedSessions: 1, leasedThreads: 1 },
      runStates: { names: 1, oldestMs: expect.any(Number) },
      timeline: { rows: 0, bytes: 0 },
    });
    expect(stats.runStates.oldestMs).toBeGreaterThanOrEqual(24 * hour);
    expect(stats.tables.map(({ name }) => name)).toContain("thread_events");
    expect(stats.bytes).toBeGreaterThan(100_000);
    expect(stats.connections.max).toBeGreaterThan(stats.connections.used);
  });
});
