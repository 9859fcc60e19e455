import { join } from "node:path";
import { createThreadServer, type TurnRunner } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { createUnixListener, createUnixTransport } from "@harnesskit/transport-uds";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { type ThreadClient, ThreadError, type ThreadEvent, UnsupportedError } from "../src/index.ts";
import { capabilities, connectClient, setUp } from "./scripted-server.ts";

/** Says what it was asked, and waits on "wait" until it is cancelled. */
const runner: TurnRunner = {
  async run(turn) {
    const [part] = turn.input;
    const text = part?.type === "text" ? part.text : "";
    const message = turn.message();
    message.append(`You said ${text}`);
    await message.complete();
    if (text.startsWith("wait"))
      await new Promise((_resolve, reject) =>
        turn.signal.addEventListener("abort", () => reject(turn.signal.reason)),
      );
  },
};

const serve = async () => {
  const dir = await temporaryDirectory();
  const path = join(dir.path, "s", "serve.sock");
  const server = createThreadServer({
    runner,
    store: createFileThreadStore({ root: join(dir.path, ".harness") }),
  });
  const listener = createUnixListener({ path });
  await listener.listen((channel) => server.connect(channel));
  onTestFinished(async () => {
    await server.close();
    await listener.close();
    await dir[Symbol.asyncDispose]();
  });
  return { connect: () => connectClient({ transport: createUnixTransport({ path }) }) };
};

describe("over a socket", () => {
  it("two clients see the same: a queue, an interruption, a new title and the archive", async () => {
    const served = await serve();
    const one = await served.connect();
    const two = await served.connect();
    const { threadId } = await one.createThread({ title: "First" });
    const subscription = await two.subscribe(threadId, { afterSeq: 0 });
    const heard: ThreadEvent[] = [];
    const seen = (async () => {
      for await (const event of subscription) {
        heard.push(event);
        if (event.type === "thread.updated" && event.data.thread.time.archived !== undefined) return;
      }
    })();
    const active = await one.startTurn({ threadId, input: "wait" });
    const queued = await one.startTurn({ threadId, input: "queued", whenBusy: "queue" });
    const given = await two.startTurn({ threadId, input: "taken back", whenBusy: "queue" });
    expect([active.position, queued.position, given.position]).toEqual([undefined, 1, 2]);
    expect((await two.listQueue(threadId)).map(({ turnId }) => turnId)).toEqual([
      queued.turnId,
      given.turnId,
    ]);
    await given.cancel();
    expect(await given.result).toMatchObject({ status: "cancelled", turn: { turnId: given.turnId } });
    const types = [];
    for await (const { type } of given) types.push(type);
    expect(types).toEqual(["turn.queued", "turn.dequeued"]);
    const urgent = await two.startTurn({ threadId, input: "urgent", whenBusy: "interrupt" });
    expect(await active.result).toMatchObject({ status: "cancelled" });
    expect(await urgent.result).toMatchObject({ status: "completed" });
    expect(await queued.result).toMatchObject({ status: "completed" });
    expect((await two.renameThread(threadId, "Second")).title).toBe("Second");
    await one.archiveThread(threadId);
    await seen;
    expect(heard.at(-1)?.data).toMatchObject({
      thread: { title: "Second", time: { archived: expect.any(Number) } },
    });
    const refused = await one.startTurn({ threadId, input: "x" }).catch((error: unknown) => error);
    expect(ThreadError.isInstance(refused) && refused.code).toBe("thread_archived");
    expect((await one.listThreads()).threads).toEqual([]);
    expect((await one.listThreads({ archived: "only" })).threads).toHaveLength(1);
    expect((await one.unarchiveThread(threadId)).time).not.toHaveProperty("archived");
  });

  it("forks and searches, and the fork goes on by itself", async () => {
    const served = await serve();
    const client = await served.connect();
    const { threadId } = await client.createThread({ title: "Parser" });
    await (await client.startTurn({ threadId, input: "fix the parser" })).result;
    const { lastSeq } = await client.getThread(threadId);
    const fork = await client.forkThread(threadId, { title: "Another way" });
    expect(fork.forkedFrom).toEqual({ threadId, seq: lastSeq });
    await (await client.startTurn({ threadId: fork.threadId, input: "with tests" })).result;
    const { hits } = await client.searchThreads("FIX parser", { limit: 10 });
    expect(hits.map(({ thread, in: place }) => [thread.title, place])).toEqual([
      ["Another way", "user_message"],
      ["Another way", "assistant_message"],
      ["Parser", "user_message"],
      ["Parser", "assistant_message"],
    ]);
    const page = await client.searchThreads("parser", { limit: 1, threadId });
    expect(page.hits).toMatchObject([{ in: "title", snippet: "Parser" }]);
    expect(
      (await client.searchThreads("parser", { threadId, cursor: page.nextCursor ?? "" })).hits,
    ).toHaveLength(2);
    await expect(client.forkThread(threadId, { seq: 1e9 })).rejects.toMatchObject({ rpcCode: -32602 });
    await expect(client.searchThreads("x ".repeat(10_000))).rejects.toMatchObject({ rpcCode: -32602 });
    await expect(client.renameThread(threadId, "a\nb")).rejects.toMatchObject({ rpcCode: -32602 });
    await expect(client.renameThread(threadId, "x".repeat(10_000_000))).rejects.toMatchObject({
      code: "frame_too_large",
    });
    expect((await client.getThread(threadId)).thread.title).toBe("Parser");
  });
});

const calls: readonly [string, (client: ThreadClient) => Promise<unknown>][] = [
  ["rename", (client) => client.renameThread("ses_1", "x")],
  ["archive", (client) => client.archiveThread("ses_1")],
  ["archive", (client) => client.unarchiveThread("ses_1")],
  ["archive", (client) => client.listThreads({ archived: "include" })],
  ["fork", (client) => client.forkThread("ses_1")],
  ["search", (client) => client.searchThreads("x")],
  ["queue", (client) => client.listQueue("ses_1")],
  ["queue", (client) => client.cancelTurn("ses_1", { turnId: "turn_1" })],
  ["queue", (client) => client.startTurn({ threadId: "ses_1", input: "x", whenBusy: "queue" })],
  ["subscribe", (client) => client.subscribe("ses_1")],
  ["delete", (client) => client.deleteThread("ses_1")],
  ["paging", (client) => client.listThreads({ limit: 1 })],
  ["grants", (client) => client.listGrants()],
  ["grants", (client) => client.revokeGrant("grant_1")],
  ["grants", (client) => client.respondApproval("a", "always", { scope: "directory" })],
  ["clientRequestId", (client) => client.createThread({ clientRequestId: "a" })],
];

describe("with a server that does not announce an extension", () => {
  it.each(calls)("%s is refused before anything is sent", async (extension, call) => {
    for (const value of [undefined, false, { version: 0 }, "yes"]) {
      const announced = {
        ...capabilities,
        ...(value !== undefined && { extensions: { [extension]: value } }),
      };
      const scripted = await setUp({
        initialize: () => ({ version: "1.0.0", capabilities: announced }),
      });
      const error = await call(scripted.client).catch((thrown: unknown) => thrown);
      expect(UnsupportedError.isInstance(error) && { ...error }).toMatchObject({
        code: "unsupported",
        extension,
      });
      expect(scripted.server.calls.map(({ method }) => method)).toEqual(["initialize"]);
    }
  });
});
