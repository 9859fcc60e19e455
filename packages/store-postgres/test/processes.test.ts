import type { ThreadStoreError } from "@harnesskit/thread-server";
import { systemClock } from "@harnesskit/wire";
import { describe, expect, it, vi } from "vitest";
import { sourceBundle } from "../../../test-kit/source-bundle.ts";
import { startToldProcess } from "../../../test-kit/told-process.ts";
import { event, readAll, thread, write } from "./support/samples.ts";
import { newSchema } from "./support/schema.ts";

const bundle = await sourceBundle(new URL("./bundle-entry.ts", import.meta.url));

type Schema = Awaited<ReturnType<typeof newSchema>>;
const startWorker = ({ url, schema }: Schema, limits: object = {}) =>
  startToldProcess(
    new URL("./fixtures/worker.mjs", import.meta.url),
    ...[bundle, url, schema, JSON.stringify(limits)],
  );

describe("workers over one schema", () => {
  it("a worker that is killed in the middle of a turn frees its session when its lease ends", async () => {
    await using schema = await newSchema();
    const { graph } = await schema.open();
    await using worker = await startWorker(schema);
    await graph.sessions.save(write("s", ["before"]));
    await worker.call("acquire", "session:s", { ttlMs: 4000 });
    await expect(graph.leases.acquire("session:s", { ttlMs: 1000 })).rejects.toMatchObject({
      name: "StoreError",
      code: "lease_taken",
    });
    await worker.kill();
    const lease = await graph.leases.acquire("session:s", { ttlMs: 60_000, waitMs: 30_000 });
    await graph.commit({ session: write("s", ["before", "after"]), leases: [lease] });
    expect(JSON.stringify((await graph.sessions.load("s"))?.state)).toBe('{"messages":["before","after"]}');
  });

  it("a worker that is stopped past its lease and goes on cannot write a session", async () => {
    await using schema = await newSchema();
    const { graph } = await schema.open();
    await using worker = await startWorker(schema);
    await worker.call("acquire", "session:s", { ttlMs: 4000 });
    expect((await worker.call("commit", "s", ["theirs"])).code).toBeUndefined();
    worker.signal("SIGSTOP");
    const lease = await graph.leases.acquire("session:s", { ttlMs: 60_000, waitMs: 30_000 });
    worker.signal("SIGCONT");
    expect(await worker.call("commit", "s", ["late"])).toMatchObject({ code: "lease_lost" });
    await graph.commit({ session: write("s", ["ours"]), leases: [lease] });
    expect(JSON.stringify((await graph.sessions.load("s"))?.state)).toBe('{"messages":["ours"]}');
  });

  it("a worker that is stopped past its lease and goes on cannot write a thread, and numbers have no gap", async () => {
    await using schema = await newSchema();
    const { threads } = await schema.open();
    await using worker = await startWorker(schema, { threadLeaseMs: 4000 });
    await threads.create(thread("ses_1"));
    await worker.call("leaseThread", "ses_1");
    await worker.call("append", "ses_1", [event("ses_1", 1)]);
    const locked: unknown = await threads.lease("ses_1").catch((error: unknown) => error);
    expect(locked).toMatchObject({ name: "ThreadStoreError", code: "thread_locked" });
    const { retryAfterMs } = locked as ThreadStoreError;
    expect(retryAfterMs).toBeGreaterThan(0);
    expect(retryAfterMs).toBeLessThanOrEqual(4000);
    worker.signal("SIGSTOP");
    await vi.waitFor(() => threads.lease("ses_1"), { timeout: 30_000 });
    worker.signal("SIGCONT");
    const late = await worker.call("append", "ses_1", [event("ses_1", 2, "late")]);
    expect(late).toMatchObject({ code: "store_failed", detail: "log_changed" });
    await threads.append("ses_1", [event("ses_1", 2)], { flush: true });
    const again = await worker.call("append", "ses_1", [event("ses_1", 3, "late")]);
    expect(again).toMatchObject({ code: "store_failed", detail: "log_changed" });
    expect(await readAll(threads.events("ses_1"))).toEqual([event("ses_1", 1), event("ses_1", 2)]);
  });

  it("what a killed worker acknowledged is stored, and another one goes on by the next number", async () => {
    const rounds = Number(process.env.HARNESS_POSTGRES_KILLS ?? 3);
    await using schema = await newSchema();
    const { threads } = await schema.open();
    await threads.create(thread("ses_1"));
    let last = 0;
    for (let round = 0; round < rounds; round++) {
      await using worker = await startWorker(schema, { threadLeaseMs: 1500 });
      await vi.waitFor(async () => expect((await worker.call("leaseThread", "ses_1")).code).toBeUndefined(), {
        timeout: 15_000,
      });
      // What the database still had of the one that was killed is stored by now.
      last = (await readAll(threads.events("ses_1"))).length;
      void worker.call("appendForever", "ses_1", event("ses_1", 0, "x".repeat(200)), last + 1);
      const acknowledged = await worker.reached(-1);
      await worker.kill();
      // A client that heard everything so far goes on behind it.
      const heard = await readAll(threads.events("ses_1", { afterSeq: last }));
      const seqs = (await readAll(threads.events("ses_1"))).map(({ seq }) => seq);
      expect(seqs).toEqual(Array.from(seqs, (_, index) => index + 1));
      expect(seqs.length).toBeGreaterThanOrEqual((acknowledged as unknown as { seq: number }).seq);
      expect(heard.map(({ seq }) => seq)).toEqual(seqs.slice(last, last + heard.length));
      last += heard.length;
    }
    expect(last).toBeGreaterThanOrEqual(rounds);
  });

  it("a suspension of one worker resumes on another, once", async () => {
    await using schema = await newSchema();
    const { graph } = await schema.open();
    await using one = await startWorker(schema);
    await using other = await startWorker(schema);
    const start = { sessionId: "s", initial: { messages: ["may I?"] } };
    const paused = (await one.call("invoke", start)).result as { outcome: string; id: string };
    expect(paused.outcome).toBe("suspended");
    await one.kill();
    const resume = { resumeInvocation: paused.id, signalPayload: {} };
    const resumed = await other.call("invoke", resume);
    expect(resumed.result).toMatchObject({
      outcome: "completed",
      state: { messages: ["may I?", "after 1"] },
    });
    expect(typeof (await other.call("invoke", resume)).code).toBe("string");
    expect((await graph.suspensions.load(paused.id))?.status).toBe("completed");
  });

  it("clocks that differ by minutes change nothing: leases are the database's", async () => {
    await using schema = await newSchema();
    const at = (minutes: number) => ({ ...systemClock, now: () => systemClock.now() + minutes * 60_000 });
    const early = await schema.open({ clock: at(-10) });
    const late = await schema.open({ clock: at(10) });
    const held = await early.graph.leases.acquire("k", { ttlMs: 60_000 });
    await expect(late.graph.leases.acquire("k", { ttlMs: 1 })).rejects.toMatchObject({ code: "lease_taken" });
    await held.release();
    const short = await late.graph.leases.acquire("k", { ttlMs: 200 });
    const next = await early.graph.leases.acquire("k", { ttlMs: 60_000, waitMs: 30_000 });
    expect(next.fence).toBeGreaterThan(short.fence);
    await expect(late.graph.commit({ session: write("s", []), leases: [short] })).rejects.toMatchObject({
      name: "StoreError",
      code: "lease_lost",
    });
    await early.threads.create(thread("ses_1"));
    await early.threads.lease("ses_1");
    await expect(late.threads.lease("ses_1")).rejects.toMatchObject({ code: "thread_locked" });
  });
});
