import { describe, expect, it } from "vitest";
import { startProxy } from "./support/proxy.ts";
import { event, readAll, thread, write } from "./support/samples.ts";
import { newSchema } from "./support/schema.ts";

const plain = (record: unknown) => JSON.parse(JSON.stringify(record)) as unknown;

describe("a connection that is lost", () => {
  it.each(["before", "after"] as const)(
    "%s the commit reaches the server: the write is stored once",
    async (when) => {
      await using schema = await newSchema();
      await using proxy = await startProxy(schema.url);
      const { graph } = await schema.open({ url: proxy.url });
      proxy.cut("COMMIT", when);
      const { version } = await graph.sessions.save(write("s", ["one"], { expectedVersion: null }));
      expect(plain(await graph.sessions.load("s"))).toMatchObject({ version, state: { messages: ["one"] } });
      expect(await graph.sessions.history("s", 10)).toHaveLength(1);
    },
  );

  it("during a commit, from a server that is gone afterwards: the outcome is unknown, and the error says so", async () => {
    await using schema = await newSchema();
    await using proxy = await startProxy(schema.url);
    const { graph } = await schema.open({ url: proxy.url, limits: { maxAttempts: 2, maxConnections: 1 } });
    proxy.cut("COMMIT", "after");
    proxy.goDown();
    await expect(graph.sessions.save(write("s", ["one"]))).rejects.toMatchObject({
      name: "StoreError",
      code: "store_failed",
      reason: "outcome_unknown",
    });
    await expect(graph.sessions.load("s")).rejects.toMatchObject({
      name: "StoreError",
      reason: "unavailable",
    });
  });

  it.each(["before", "after"] as const)(
    "%s an append reaches the server: the event is stored once",
    async (when) => {
      await using schema = await newSchema();
      await using proxy = await startProxy(schema.url);
      const { threads } = await schema.open({ url: proxy.url });
      await threads.create(thread("ses_1"));
      await threads.lease("ses_1");
      proxy.cut("thread_events", when);
      await threads.append("ses_1", [event("ses_1", 1)], { flush: true });
      await threads.append("ses_1", [event("ses_1", 2)], { flush: true });
      expect((await readAll(threads.events("ses_1"))).map(({ seq }) => seq)).toEqual([1, 2]);
    },
  );

  it("during the question for a lease: the lease is held once, by this process", async () => {
    await using schema = await newSchema();
    await using proxy = await startProxy(schema.url);
    const { graph } = await schema.open({ url: proxy.url });
    proxy.cut("leases", "after");
    const lease = await graph.leases.acquire("k", { ttlMs: 60_000 });
    await lease.renew();
    await lease.release();
  });
});
