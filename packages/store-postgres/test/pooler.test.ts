import { describe, expect, it, vi } from "vitest";
import { hasPgbouncer, startPgbouncer } from "./support/pgbouncer.ts";
import { event, readAll, thread, write } from "./support/samples.ts";
import { newSchema } from "./support/schema.ts";

const missing = "pgbouncer is not installed (Debian: apt-get install pgbouncer)";

describe("behind a pooler that shares connections between transactions", () => {
  it("everything works, and other processes are noticed by the poll, which onError says once", async ({
    skip,
  }) => {
    if (!hasPgbouncer) skip(missing);
    await using schema = await newSchema();
    await using pooler = await startPgbouncer(schema.url);
    const onError = vi.fn();
    const limits = { maxConnections: 10, wakePollMs: 50, connectTimeoutMs: 1000 };
    const open = () => schema.open({ url: pooler.url, limits, onError });
    const [one, other] = [await open(), await open()];

    const lease = await one.graph.leases.acquire("s", { ttlMs: 60_000 });
    await one.graph.commit({ session: write("s", ["one"]), leases: [lease] });
    await lease.release();
    expect(JSON.stringify((await other.graph.sessions.load("s"))?.state)).toBe('{"messages":["one"]}');

    const { record } = await one.approvals.ask({
      origin: { agent: "a", session: "s" },
      subject: { tool: "bash", input: { command: "ls" } },
      rule: { id: "r", reason: "it runs a command" },
    });
    const answers = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 ? one : other).approvals.apply(record.id, {
          ...{ type: "answer", decision: "approve", by: `human-${index}` },
          digest: record.digest,
        } as const),
      ),
    );
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);

    await one.continuations.keep("c", 1, Date.now() + 60_000);
    expect(await other.continuations.claim("c", Date.now() + 60_000)).toEqual({ status: "claimed", data: 1 });

    await one.threads.create(thread("ses_1"));
    await one.threads.lease("ses_1");
    const onChange = vi.fn();
    other.threads.watch?.("ses_1", onChange);
    const ids = Array.from({ length: 20 }, (_, index) => index + 1);
    for (const seq of ids) await one.threads.append("ses_1", [event("ses_1", seq)], { flush: true });
    await vi.waitFor(() => expect(onChange).toHaveBeenCalled());
    expect((await readAll(other.threads.events("ses_1"))).map(({ seq }) => seq)).toEqual(ids);

    await vi.waitFor(() => expect(onError).toHaveBeenCalled());
    expect(other.stats().wakes.isListening).toBe(false);
    expect(String(onError.mock.calls[0]?.[0])).toContain("listenUrl");
  });

  it("with listenUrl, one direct connection of the process listens", async ({ skip }) => {
    if (!hasPgbouncer) skip(missing);
    await using schema = await newSchema();
    await using pooler = await startPgbouncer(schema.url);
    const limits = { wakePollMs: 3_600_000 };
    const options = { url: pooler.url, listenUrl: schema.url, limits };
    const [one, other] = [await schema.open(options), await schema.open(options)];
    await one.threads.create(thread("ses_1"));
    await one.threads.lease("ses_1");
    const onChange = vi.fn();
    other.threads.watch?.("ses_1", onChange);
    await vi.waitFor(() => expect(other.stats().wakes.isListening).toBe(true));
    onChange.mockClear();
    await one.threads.append("ses_1", [event("ses_1", 1)], { flush: true });
    await vi.waitFor(() => expect(onChange).toHaveBeenCalled());
  });
});
