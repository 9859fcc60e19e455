import { describe, expect, it, onTestFinished } from "vitest";
import type { ThreadClientOptions, ThreadEvent } from "../src/index.ts";
import { connectInMemory, createCountingServer } from "./cut-scenario.ts";
import { createCutTransport } from "./cut-transport.ts";
import { collect, failureOf } from "./sample-events.ts";
import { connectClient } from "./scripted-server.ts";

const setUp = async (options: Partial<ThreadClientOptions> = {}) => {
  const { server, runs } = createCountingServer();
  onTestFinished(() => server.close());
  const connect = (more: Partial<ThreadClientOptions> = {}) =>
    connectClient({ transport: createCutTransport(connectInMemory(server)).transport, ...more });
  return { connect, runs, client: await connect(options) };
};

const until = async (events: AsyncIterable<ThreadEvent>, type: string): Promise<ThreadEvent[]> => {
  const all: ThreadEvent[] = [];
  for await (const event of events) {
    all.push(event);
    if (event.type === type) break;
  }
  return all;
};

describe("subscribe", () => {
  it("joins a thread that is followed already, with its past, each event once", async () => {
    const { client } = await setUp();
    const { threadId } = await client.createThread();
    const turn = await client.startTurn({ threadId, input: "a" });
    const first = await client.subscribe(threadId, { afterSeq: 0 });
    const [requested] = (await until(first, "approval.requested")).slice(-1);
    if (requested?.type !== "approval.requested") throw new Error("nothing was asked");
    const late = await client.subscribe(threadId);
    const whole = await client.subscribe(threadId, { afterSeq: 0 });
    const reading = Promise.all([until(late, "turn.completed"), until(whole, "turn.completed")]);
    await client.respondApproval(requested.data.requestId, "once", {
      digest: requested.data.metadata.digest,
    });
    const [lateEvents, wholeEvents] = await reading;
    await turn.result;
    const { events } = await client.getThread(threadId);
    expect(wholeEvents).toEqual(events);
    // The question still waits: it is told again, without a number.
    const { type, data } = requested;
    expect(lateEvents[0]).toEqual({ type, data });
    expect(lateEvents.slice(1)).toEqual(events.filter(({ seq }) => seq > late.lastSeq));
  });

  it("ends the subscription with the loop, and hears of nothing else after it", async () => {
    const { client, connect } = await setUp({ onApproval: () => "reject" });
    const other = await connect();
    const { threadId } = await client.createThread();
    const second = await client.createThread();
    const subscription = await client.subscribe(threadId, { afterSeq: 0 });
    await until(subscription, "thread.created");
    expect(await collect(subscription)).toEqual([]);
    const all = client.events();
    const turns = [threadId, second.threadId].map((id) => other.startTurn({ threadId: id, input: "a" }));
    await Promise.all(turns);
    await client.listThreads();
    all.close();
    expect(await collect(all)).toEqual([]);
  });

  it("ends in good order when the thread is deleted", async () => {
    const deleted: string[] = [];
    const { client, connect } = await setUp({ onThreadDeleted: (id) => deleted.push(id) });
    const { threadId } = await client.createThread();
    const reading = collect(await client.subscribe(threadId, { afterSeq: 0 }));
    const other = await connect();
    await other.deleteThread(threadId);
    expect((await reading).map(({ type }) => type)).toEqual(["thread.created"]);
    expect(deleted).toEqual([threadId]);
    expect(await failureOf(client.subscribe(threadId))).toMatchObject({
      name: "ThreadError",
      code: "thread_not_found",
    });
    expect(await failureOf(client.startTurn({ threadId, input: "a" }))).toMatchObject({
      code: "thread_not_found",
    });
  });

  it("tells nothing up to `afterSeq`, and refuses one that is no number", async () => {
    const { client } = await setUp({ onApproval: () => "once" });
    const { threadId } = await client.createThread();
    const ahead = until(await client.subscribe(threadId, { afterSeq: 5 }), "turn.completed");
    await (await client.startTurn({ threadId, input: "a" })).result;
    const { events } = await client.getThread(threadId, { afterSeq: 5 });
    expect(await ahead).toEqual(events);
    for (const afterSeq of [-1, 0.5, Number.NaN]) {
      expect(await failureOf(client.subscribe(threadId, { afterSeq }))).toMatchObject({
        name: "InvalidArgumentError",
        code: "invalid_argument",
      });
    }
  });

  it("can be given up", async () => {
    const setup = await setUp();
    const { threadId } = await setup.client.createThread();
    const signal = AbortSignal.abort();
    const error = await failureOf(setup.client.subscribe(threadId, { signal }));
    expect(error).toMatchObject({ name: "RequestCancelledError", code: "request_cancelled" });
  });
});

describe("lists and grants", () => {
  it("pages through all threads", async () => {
    const { client } = await setUp();
    for (let index = 0; index < 5; index++) await client.createThread({ title: `Number ${index}` });
    const { threads } = await client.listThreads();
    const page = await client.listThreads({ limit: 2 });
    expect(page.threads).toEqual(threads.slice(0, 2));
    expect(page.nextCursor).toBeTypeOf("string");
    expect(await collect(client.allThreads({ limit: 2 }))).toEqual(threads);
    expect(await collect(client.allThreads())).toEqual(threads);
    expect(await collect(client.allThreads({ title: "number 3" }))).toMatchObject([{ title: "Number 3" }]);
  });

  it("gives, lists and takes back a grant, and refuses another digest", async () => {
    const { client, runs } = await setUp();
    const { threadId } = await client.createThread();
    const turn = await client.startTurn({ threadId, input: "a" });
    for await (const event of turn) {
      if (event.type !== "approval.requested") continue;
      const { requestId } = event.data;
      expect(
        await failureOf(client.respondApproval(requestId, "once", { digest: "sha256:00" })),
      ).toMatchObject({ code: "approval_not_found", data: { reason: "digest_mismatch" } });
      await client.respondApproval(requestId, "always", { scope: "directory", clientRequestId: "mine" });
      await client.respondApproval(requestId, "always", { scope: "directory", clientRequestId: "mine" });
      expect(
        await failureOf(client.respondApproval(requestId, "reject", { clientRequestId: "mine" })),
      ).toMatchObject({ code: "request_conflict", rpcCode: -32005 });
    }
    expect(runs).toHaveLength(1);
    const [grant, ...rest] = await client.listGrants({ threadId });
    expect(rest).toEqual([]);
    expect(grant).toMatchObject({ scope: "directory", tool: "bash", input: { command: "ls" } });
    await client.revokeGrant(grant?.grantId ?? "");
    expect(await client.listGrants()).toEqual([]);
    expect(await failureOf(client.revokeGrant("grant_0"))).toMatchObject({ code: "approval_not_found" });
  });
});
