import { describe, expect, it, vi } from "vitest";
import { startProxy } from "./support/proxy.ts";
import { event, thread, write } from "./support/samples.ts";
import { newSchema } from "./support/schema.ts";

/** Nothing but a wake tells of a change within the time of a test. */
const deaf = { wakePollMs: 3_600_000, leasePollMs: 3_600_000 };
/** Nothing but the poll does: nothing is told. */
const quiet = { wakePollMs: 20, wakeIntervalMs: 3_600_000 };

const listening = (store: { stats(): { readonly wakes: { readonly isListening: boolean } } }) =>
  vi.waitFor(() => expect(store.stats().wakes.isListening).toBe(true));

const question = (callId: string) => ({
  origin: { agent: "a", session: "s", callId },
  subject: { tool: "bash", input: { command: callId } },
  rule: { id: "r", reason: "it runs a command" },
});

describe("wakes", () => {
  it.each([
    ["by a notification", deaf],
    ["by the poll alone", quiet],
  ])("a reader of a thread learns of appends of another process %s", async (_, limits) => {
    await using schema = await newSchema();
    const [writer, reader] = [await schema.open({ limits }), await schema.open({ limits })];
    await writer.threads.create(thread("ses_1"));
    await writer.threads.lease("ses_1");
    const onChange = vi.fn();
    const stop = reader.threads.watch?.("ses_1", onChange);
    await listening(reader);
    onChange.mockClear();
    await writer.threads.append("ses_1", [event("ses_1", 1)], { flush: true });
    await vi.waitFor(() => expect(onChange).toHaveBeenCalled());
    stop?.();
    onChange.mockClear();
    await writer.threads.append("ses_1", [event("ses_1", 2)], { flush: true });
    const other = vi.fn();
    reader.threads.watch?.("ses_1", other);
    await writer.threads.append("ses_1", [event("ses_1", 3)], { flush: true });
    await vi.waitFor(() => expect(other).toHaveBeenCalled());
    expect(onChange).not.toHaveBeenCalled();
  });

  it("many changes of a process within an interval are told together, and never inside of an append", async () => {
    await using schema = await newSchema();
    const limits = { ...deaf, wakeIntervalMs: 100 };
    const [writer, reader] = [await schema.open({ limits }), await schema.open({ limits })];
    const ids = Array.from({ length: 30 }, (_, index) => `ses_${index}`);
    const woken = new Set<string>();
    for (const id of ids) {
      await writer.threads.create(thread(id));
      await writer.threads.lease(id);
      reader.threads.watch?.(id, () => woken.add(id));
    }
    await listening(reader);
    const before = writer.stats().wakes.sent;
    const begin = Date.now();
    for (let seq = 1; seq <= 5; seq++) {
      await Promise.all(ids.map((id) => writer.threads.append(id, [event(id, seq)], { flush: true })));
    }
    const intervals = (Date.now() - begin) / limits.wakeIntervalMs;
    await vi.waitFor(() => expect(woken.size).toBe(ids.length));
    expect(writer.stats().wakes.sent - before).toBeLessThanOrEqual(intervals + 2);
  });

  it("more changes than a notification holds wake all listeners of their topic", async () => {
    await using schema = await newSchema();
    const limits = { ...deaf, wakeIntervalMs: 3_600_000 };
    const [writer, reader] = [await schema.open({ limits }), await schema.open({ limits: deaf })];
    const onChange = vi.fn();
    reader.graph.suspensions.watchEnds?.("s", onChange);
    reader.threads.watch?.("ses_unrelated", onChange);
    await listening(reader);
    onChange.mockClear();
    const leases = Array.from({ length: 450 }, (_, index) => `k${index}`);
    const held = await Promise.all(leases.map((key) => writer.graph.leases.acquire(key, { ttlMs: 60_000 })));
    const waiting = reader.graph.leases.acquire("k7", { ttlMs: 60_000, waitMs: 60_000 });
    await vi.waitFor(() => expect(reader.stats().wakes.listeners).toBe(3));
    await Promise.all(held.map((lease) => lease.release()));
    // Closing tells what is not told yet.
    await writer.close();
    expect((await waiting).key).toBe("k7");
    expect(onChange).not.toHaveBeenCalled();
  });

  it("a call that waits for a lease goes on when another process releases it", async () => {
    await using schema = await newSchema();
    const [one, other] = [await schema.open({ limits: deaf }), await schema.open({ limits: deaf })];
    const lease = await one.graph.leases.acquire("s", { ttlMs: 3_600_000 });
    const waiting = other.graph.leases.acquire("s", { ttlMs: 1000, waitMs: 60_000 });
    await listening(other);
    await lease.release();
    expect((await waiting).fence).toBeGreaterThan(lease.fence);
  });

  it("a watcher of approvals sees the answer of another process", async () => {
    await using schema = await newSchema();
    const options = { limits: deaf, approvals: { limits: { watchPollMs: 3_600_000 } } };
    const [one, other] = [await schema.open(options), await schema.open(options)];
    const watcher = one.approvals.watch();
    const first = watcher.next();
    await listening(one);
    const { record } = await other.approvals.ask(question("c1"));
    expect((await first).value).toEqual(record);
    const next = watcher.next();
    const { id, digest } = record;
    await other.approvals.apply(id, { type: "answer", decision: "approve", by: "ada", digest });
    expect((await next).value).toMatchObject({ id, status: "approved" });
  });

  it("a listening connection that is cut is opened again, and what happened meanwhile is found", async () => {
    await using schema = await newSchema();
    await using proxy = await startProxy(schema.url);
    const onError = vi.fn();
    const writer = await schema.open();
    const reader = await schema.open({ listenUrl: proxy.url, limits: deaf, onError });
    await writer.threads.create(thread("ses_1"));
    await writer.threads.lease("ses_1");
    const onChange = vi.fn();
    reader.threads.watch?.("ses_1", onChange);
    await listening(reader);
    proxy.cutAll();
    await vi.waitFor(() => expect(reader.stats().wakes.isListening).toBe(false));
    onChange.mockClear();
    await writer.threads.append("ses_1", [event("ses_1", 1)], { flush: true });
    await vi.waitFor(() => expect(onChange).toHaveBeenCalled());
    await listening(reader);
    expect(onError.mock.calls).toMatchObject([[{ name: "StoreError", reason: "unavailable" }]]);
    expect(await reader.graph.sessions.save(write("s", [1]))).toHaveProperty("version");
  });
});
