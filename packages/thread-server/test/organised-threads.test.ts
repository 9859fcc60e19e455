import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { createThreadServer, type ThreadServerOptions } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { heldUpdates } from "./support/failing-stores.ts";
import { RawClient } from "./support/raw-client.ts";
import { sayingRunner } from "./support/tools.ts";

const setUp = async (options: Partial<ThreadServerOptions> = {}) => {
  const store = createMemoryThreadStore();
  const server = createThreadServer({ runner: sayingRunner("said"), store, ...options });
  const client = RawClient.connect(server);
  return { server, store, client, threadId: await client.createThread() };
};

const listed = async (client: RawClient, params: object = {}): Promise<string[]> =>
  (await client.call("thread.list", params)).result.threads.map(
    ({ threadId }: { threadId: string }) => threadId,
  );

describe("thread.rename", () => {
  it("takes the title from the log where its server ended before it stored the thread", async () => {
    const { server, store, client, threadId } = await setUp();
    const before = await store.get(threadId);
    await client.call("thread.rename", { threadId, title: "After" });
    await server.close();
    if (before) await store.update(before);
    const later = RawClient.connect(createThreadServer({ runner: sayingRunner(), store }));
    expect((await later.call("thread.get", { threadId })).result.thread.title).toBe("After");
    expect((await store.get(threadId))?.title).toBe("After");
  });

  it("is not undone by an older state of the thread that is stored late", async () => {
    const { inner, store, hold, release } = heldUpdates();
    const { server, client, threadId } = await setUp({ store });
    hold();
    await client.runTurn(threadId);
    const renamed = client.call("thread.rename", { threadId, title: "After" });
    await nextTurn(20);
    release();
    await renamed;
    await server.close();
    expect((await inner.get(threadId))?.title).toBe("After");
  });

  it.each([
    ["an empty title", ""],
    ["a line break", "a\nb"],
    ["an escape of a terminal", "\u001b[31mred"],
    ["1001 characters", "x".repeat(1001)],
  ])("refuses %s with -32602", async (_what, title) => {
    const { client, threadId } = await setUp();
    expect((await client.call("thread.rename", { threadId, title })).error?.code).toBe(-32602);
    expect((await client.call("thread.get", { threadId })).result.thread.title).toBe("New thread");
    expect(client.all("thread.updated")).toEqual([]);
  });
});

describe("thread.archive", () => {
  it("leaves the thread out of lists unless asked, refuses turns with -32006, and is undone by thread.unarchive", async () => {
    const { server, store, client, threadId } = await setUp();
    const other = await client.createThread();
    const { result } = await client.call("thread.archive", { threadId });
    expect(result.thread.time.archived).toBeGreaterThan(0);
    expect((await client.call("thread.archive", { threadId })).result).toEqual(result);
    expect(await listed(client)).toEqual([other]);
    expect((await listed(client, { archived: "include" })).sort()).toEqual([threadId, other].sort());
    expect(await listed(client, { archived: "only" })).toEqual([threadId]);
    expect((await client.call("thread.list", { archived: "yes" })).error?.code).toBe(-32602);
    for (const whenBusy of ["reject", "queue", "interrupt"])
      expect((await client.startTurn(threadId, "go", { whenBusy })).error?.code).toBe(-32006);
    expect((await client.call("thread.get", { threadId })).result.thread).toEqual(result.thread);
    await server.close();
    const later = RawClient.connect(createThreadServer({ runner: sayingRunner("x"), store }));
    expect((await later.startTurn(threadId)).error).toMatchObject({ code: -32006 });
    expect((await later.call("thread.unarchive", { threadId })).result.thread.time).not.toHaveProperty(
      "archived",
    );
    expect((await later.notification("thread.updated")).params.thread.time).not.toHaveProperty("archived");
    await later.turnEnd((await later.startTurn(threadId)).result.turnId);
    expect((await listed(later)).sort()).toEqual([threadId, other].sort());
  });

  it.each(["thread.archive", "thread.unarchive", "thread.rename", "thread.fork", "queue.list"])(
    "%s is -32001 for ids that name no thread",
    async (method) => {
      const { client } = await setUp();
      for (const threadId of ["", "nope", "../ses_1", "ses_1\0", "__proto__", "x".repeat(100_000)])
        expect((await client.call(method, { threadId, title: "x" })).error?.code).toBe(-32001);
    },
  );
});

describe("thread.search", () => {
  const said = async (client: RawClient, threadId: string, text: string) =>
    client.turnEnd((await client.startTurn(threadId, text)).result.turnId);

  it("finds titles however their letters are composed, and shows what is around a word", async () => {
    const { client, threadId } = await setUp();
    await client.call("thread.rename", { threadId, title: "R\u00e9sum\u00e9".normalize("NFD") });
    expect((await client.call("thread.search", { query: "R\u00c9SUM\u00c9" })).result.hits).toHaveLength(1);
    await said(client, threadId, `${"hay ".repeat(100)}needle`);
    const { hits } = (await client.call("thread.search", { query: "needle" })).result;
    expect(hits[0].snippet).toMatch(/^…(hay )+needle$/);
  });

  it("leaves out reasoning and archived threads", async () => {
    const { client, threadId } = await setUp({
      runner: {
        async run(turn) {
          const message = turn.message({ reasoning: true });
          message.append("a secret thought");
          await message.complete();
        },
      },
    });
    await said(client, threadId, "go");
    expect((await client.call("thread.search", { query: "secret" })).result).toEqual({ hits: [] });
    await client.call("thread.archive", { threadId });
    expect((await client.call("thread.search", { query: "go" })).result).toEqual({ hits: [] });
    expect((await client.call("thread.search", { query: "go", archived: "only" })).result.hits).toHaveLength(
      1,
    );
  });

  it.each([
    ["no word", { query: " \n " }],
    ["17 words", { query: Array.from({ length: 17 }, (_, index) => `w${index}`).join(" ") }],
    ["a forged cursor", { query: "x", cursor: "1/2" }],
    ["a cursor that is no place", { query: "x", cursor: "-1/x/ses_1" }],
  ])("refuses %s with -32602", async (_what, params) => {
    const { client } = await setUp();
    expect((await client.call("thread.search", params)).error?.code).toBe(-32602);
  });

  it("takes a query as words and never as a pattern", async () => {
    const { client, threadId } = await setUp();
    await said(client, threadId, `${"a".repeat(50_000)}!`);
    for (const query of ["(a+)+$", ".*", "[a-", "\\", "%", "a_a"])
      expect((await client.call("thread.search", { query })).result).toEqual({ hits: [] });
  });
});
