import { createThreadServer, type ThreadServerLimits } from "@harnesskit/thread-server";
import { type HarnessError, ProtocolError } from "@harnesskit/wire";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ClientLimits } from "../src/limits.ts";
import { connectInMemory } from "./cut-scenario.ts";
import { createCutTransport } from "./cut-transport.ts";
import { collect } from "./sample-events.ts";
import { connectClient } from "./scripted-server.ts";

/** A server whose agent answers with text of this length, and a client of it. */
const setUp = async (
  length: number,
  limits: Partial<ThreadServerLimits>,
  own: Partial<ClientLimits> = {},
) => {
  const serverErrors: HarnessError[] = [];
  const server = createThreadServer({
    runner: {
      async run(turn) {
        const message = turn.message();
        message.append("€".repeat(length));
        await message.complete();
      },
    },
    limits,
    onError: (error) => serverErrors.push(error as HarnessError),
  });
  const { transport } = createCutTransport(connectInMemory(server));
  const errors: HarnessError[] = [];
  const client = await connectClient({ transport, limits: own, onError: (error) => errors.push(error) });
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  const talk = async (turns: number) => {
    const { threadId } = await client.createThread();
    for (let turn = 0; turn < turns; turn++) {
      await (await client.startTurn({ threadId, input: "more" })).result;
    }
    return threadId;
  };
  return { client, talk, errors, serverErrors };
};

describe("a history over the message limit", () => {
  it("is read in pages, each event once, by `getThread` and by a subscription", async () => {
    // Four turns of more than 3 MB each, as UTF-8.
    const { client, talk } = await setUp(500_000, {});
    const threadId = await talk(4);
    const { events, lastSeq, nextAfterSeq, thread } = await client.getThread(threadId);
    expect(thread.threadId).toBe(threadId);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.filter(({ type }) => type === "turn.completed")).toHaveLength(4);
    expect([lastSeq, nextAfterSeq]).toEqual([events.length, undefined]);
    const subscription = await client.subscribe(threadId, { afterSeq: 0 });
    const past = [];
    for await (const event of subscription) if (past.push(event) === events.length) break;
    expect(past).toEqual(events);
  });

  it("says where it goes on, after `limit` events or `maxPages` pages", async () => {
    const { client, talk } = await setUp(10, { maxPageBytes: 1000 }, { maxPages: 2 });
    const threadId = await talk(3);
    const { nextAfterSeq, lastSeq } = await client.getThread(threadId, { limit: 1 });
    expect([nextAfterSeq, lastSeq]).toEqual([1, 1]);
    const seqs: number[] = [];
    let pages = 0;
    for (let afterSeq: number | undefined = 0; afterSeq !== undefined; pages++) {
      const part = await client.getThread(threadId, { afterSeq });
      seqs.push(...part.events.map(({ seq }) => seq));
      afterSeq = part.nextAfterSeq;
    }
    expect(pages).toBeGreaterThan(1);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    const some = await client.getThread(threadId, { afterSeq: 2, limit: 3 });
    expect(some.events.map(({ seq }) => seq)).toEqual([3, 4, 5]);
  });

  it("leaves out an event that exceeds the limit alone, names it, and goes on behind it", async () => {
    const { client, talk, errors } = await setUp(1000, { maxPageBytes: 2000 });
    const threadId = await talk(1);
    const { events, lastSeq } = await client.getThread(threadId);
    const refused = errors.map((error) => {
      expect(error).toBeInstanceOf(ProtocolError);
      expect(error).toMatchObject({
        code: "invalid_params",
        data: { reason: "event_too_large", maxBytes: 2000 },
      });
      return ((error as ProtocolError).data as { seq: number }).seq;
    });
    // The delta and the completed message.
    expect(refused).toHaveLength(2);
    const all = [...events.map(({ seq }) => seq), ...refused].sort((one, other) => one - other);
    expect(all).toEqual(Array.from({ length: lastSeq ?? 0 }, (_, index) => index + 1));
  });
});

describe("a list over the message limit", () => {
  it("is read in pages, each thread once", async () => {
    const { client } = await setUp(1, { maxPageBytes: 1000 }, { maxPages: 3 });
    const created: string[] = [];
    for (let index = 0; index < 20; index++) {
      created.push((await client.createThread({ title: `Thread ${index} ${"x".repeat(100)}` })).threadId);
    }
    const first = await client.listThreads();
    expect(first.nextCursor).toBeTypeOf("string");
    const all = [...first.threads];
    for (let cursor = first.nextCursor; cursor !== undefined; ) {
      const page = await client.listThreads({ cursor });
      all.push(...page.threads);
      cursor = page.nextCursor;
    }
    const ids = all.map(({ threadId }) => threadId);
    expect([...ids].sort()).toEqual([...created].sort());
    expect((await collect(client.allThreads())).map(({ threadId }) => threadId)).toEqual(ids);
  });

  it("has a thread that exceeds the limit alone in a page of its own", async () => {
    const { client } = await setUp(1, { maxPageBytes: 100 });
    for (let index = 0; index < 3; index++) await client.createThread({ title: "x".repeat(1000) });
    const page = await client.listThreads({ limit: 3 });
    expect(page.threads).toHaveLength(1);
    expect((await client.listThreads()).threads).toHaveLength(3);
  });
});
