import { createThreadServer, type ThreadServerOptions, type TurnRunner } from "@harnesskit/thread-server";
import { methodNotFound, ProtocolError } from "@harnesskit/wire";
import { createMemoryTransport } from "@harnesskit/wire/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { createThreadClient, type ThreadClient, ThreadError } from "../src/index.ts";
import { capabilities, setUp } from "./scripted-server.ts";

/** Waits until it is cancelled. */
const runner: TurnRunner = {
  run: (turn) =>
    new Promise((_resolve, reject) =>
      turn.signal.addEventListener("abort", () => reject(turn.signal.reason), { once: true }),
    ),
};

const connect = async (options: Partial<ThreadServerOptions> = {}) => {
  const server = createThreadServer({ runner, ...options });
  const { transport, listener } = createMemoryTransport();
  await listener.listen((channel) => server.connect(channel));
  const client = createThreadClient({ transport });
  onTestFinished(async () => {
    // First the server: it serves a client that leaves until its turn has ended.
    await server.close();
    await client.close();
  });
  await client.connect();
  const { threadId } = await client.createThread({ title: "Parser" });
  return { client, threadId };
};

type Call = (client: ThreadClient, threadId: string) => Promise<unknown>;
type Refusal = Pick<ThreadError, "code" | "rpcCode"> & { readonly data?: unknown };

/** Asserts that the server refuses a call with an error of the protocol, and with which one. */
const refused = async (call: Promise<unknown>, expected: Refusal): Promise<void> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(ThreadError.isInstance(error), String(error)).toBe(true);
  expect(error).toMatchObject(expected);
};

/** As `refused`, for params that are not valid, which the protocol shares with JSON-RPC. */
const invalid = async (call: Promise<unknown>, data?: object): Promise<void> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(ProtocolError.isInstance(error), String(error)).toBe(true);
  expect(error).toMatchObject({ code: "invalid_params", rpcCode: -32602, ...(data && { data }) });
};

/** Each call of the extensions on one thread, and the requirement that it belongs to. */
const calls: readonly [string, string, Call][] = [
  ["thread.rename", "THR-90", (client, id) => client.renameThread(id, "x")],
  ["thread.archive", "THR-91", (client, id) => client.archiveThread(id)],
  ["thread.unarchive", "THR-91", (client, id) => client.unarchiveThread(id)],
  ["thread.fork", "THR-96", (client, id) => client.forkThread(id)],
  ["thread.fork with a seq", "THR-96", (client, id) => client.forkThread(id, { seq: 1 })],
  ["thread.search", "THR-94", (client, id) => client.searchThreads("x", { threadId: id })],
  ["queue.list", "THR-92", (client, id) => client.listQueue(id)],
  [
    "turn.start that queues",
    "THR-92",
    (client, id) => client.startTurn({ threadId: id, input: "x", whenBusy: "queue" }),
  ],
  [
    "turn.start that interrupts",
    "THR-93",
    (client, id) => client.startTurn({ threadId: id, input: "x", whenBusy: "interrupt" }),
  ],
  ["turn.cancel of one turn", "THR-93", (client, id) => client.cancelTurn(id, { turnId: "turn_1" })],
];

describe("a thread that the server does not know", () => {
  it.each(calls)("%s is thread_not_found", async (_name, _requirement, call) => {
    const { client, threadId } = await connect();
    for (const id of ["ses_0", "../ses_1", "__proto__"])
      await refused(call(client, id), { code: "thread_not_found", rpcCode: -32001 });
    await client.deleteThread(threadId);
    await refused(call(client, threadId), { code: "thread_not_found", rpcCode: -32001 });
    expect((await client.listThreads({ archived: "include" })).threads).toEqual([]);
  });

  it.each(calls)("%s with an id of a wrong type is invalid_params", async (_name, _requirement, call) => {
    const { client } = await connect();
    for (const id of [5, [], {}]) await invalid(call(client, id as unknown as string));
  });
});

describe("a thread that is not archived", () => {
  it("stays as it is when it is taken out of the archive, without an event", async () => {
    const { client, threadId } = await connect();
    const before = await client.getThread(threadId);
    expect(await client.unarchiveThread(threadId)).toEqual(before.thread);
    expect(await client.getThread(threadId)).toEqual(before);
  });
});

describe("an archived thread", () => {
  it.each(["reject", "queue", "interrupt"] as const)(
    "is thread_archived for a prompt with whenBusy %s, and nothing of it waits",
    async (whenBusy) => {
      const { client, threadId } = await connect();
      await client.archiveThread(threadId);
      const call = client.startTurn({ threadId, input: "x", whenBusy });
      await refused(call, { code: "thread_archived", rpcCode: -32006 });
      expect(await client.listQueue(threadId)).toEqual([]);
    },
  );
});

describe("a busy thread", () => {
  it("is turn_busy with turn_active for thread.archive, also when only its queue waits", async () => {
    const { client, threadId } = await connect();
    await client.startTurn({ threadId, input: "x" });
    const busy = { code: "turn_busy", rpcCode: -32002, data: { reason: "turn_active" } } as const;
    await refused(client.archiveThread(threadId), busy);
    await client.startTurn({ threadId, input: "x", whenBusy: "queue" });
    await refused(client.archiveThread(threadId), busy);
    expect((await client.getThread(threadId)).thread.time).not.toHaveProperty("archived");
  });

  it("is turn_busy with the active turn for a prompt that does not wait", async () => {
    const { client, threadId } = await connect();
    const { turnId } = await client.startTurn({ threadId, input: "x" });
    for (const more of [{}, { whenBusy: "reject" as const }])
      await refused(client.startTurn({ threadId, input: "x", ...more }), {
        ...{ code: "turn_busy", rpcCode: -32002, data: { turnId } },
      });
  });

  it.each([
    ["prompts", { maxQueuedTurns: 1 }, "x"],
    ["characters", { maxQueuedLength: 200 }, "x".repeat(200)],
  ])(
    "is turn_busy with queue_full beyond the limit of %s, and keeps what waits",
    async (_of, limits, text) => {
      const { client, threadId } = await connect({ limits });
      await client.startTurn({ threadId, input: "x" });
      const { turnId } = await client.startTurn({ threadId, input: "x", whenBusy: "queue" });
      for (const whenBusy of ["queue", "interrupt"] as const)
        await refused(client.startTurn({ threadId, input: text, whenBusy }), {
          ...{ code: "turn_busy", rpcCode: -32002, data: { reason: "queue_full", ...limits } },
        });
      expect((await client.listQueue(threadId)).map((queued) => queued.turnId)).toEqual([turnId]);
    },
  );

  it("is turn_not_found for turn.cancel of a turn that neither runs nor waits", async () => {
    const { client, threadId } = await connect();
    const first = await client.startTurn({ threadId, input: "x" });
    const other = await client.createThread();
    const elsewhere = await client.startTurn({ threadId: other.threadId, input: "x" });
    for (const turnId of ["", "turn_0", elsewhere.turnId])
      await refused(client.cancelTurn(threadId, { turnId }), { code: "turn_not_found", rpcCode: -32003 });
    await first.cancel();
    await first.result;
    await refused(client.cancelTurn(threadId, { turnId: first.turnId }), {
      ...{ code: "turn_not_found", rpcCode: -32003 },
    });
    await elsewhere.cancel();
  });
});

describe("params that are not valid", () => {
  const wrong = <T>(value: unknown): T => value as T;

  it.each<[string, string, Call]>([
    ["a title of 1001 characters", "THR-90", (client, id) => client.renameThread(id, "x".repeat(1001))],
    ["a title that is a number", "THR-90", (client, id) => client.renameThread(id, wrong(5))],
    ["a fork's empty title", "THR-96", (client, id) => client.forkThread(id, { title: "" })],
    ["a fork's title with a line break", "THR-96", (client, id) => client.forkThread(id, { title: "a\nb" })],
    ["a fork's title of 1001", "THR-96", (client, id) => client.forkThread(id, { title: "x".repeat(1001) })],
    ["a fork's empty request id", "THR-96", (client, id) => client.forkThread(id, { clientRequestId: "" })],
    [
      "a fork's request id of 201",
      "THR-96",
      (client, id) => client.forkThread(id, { clientRequestId: "x".repeat(201) }),
    ],
    ["a query of 1001 characters", "THR-94", (client) => client.searchThreads("x".repeat(1001))],
    ["a query that is a list", "THR-94", (client) => client.searchThreads(wrong(["x"]))],
    ["101 hits", "THR-94", (client) => client.searchThreads("x", { limit: 101 })],
    ["half a hit", "THR-94", (client) => client.searchThreads("x", { limit: 0.5 })],
    ["a cursor of 301", "THR-94", (client) => client.searchThreads("x", { cursor: "1".repeat(301) })],
    ["a word that is no choice", "THR-94", (client) => client.searchThreads("x", { archived: wrong("yes") })],
    [
      "a directory that is a number",
      "THR-94",
      (client) => client.searchThreads("x", { directory: wrong(1) }),
    ],
    [
      "an unknown policy",
      "THR-92",
      (client, threadId) => client.startTurn({ threadId, input: "x", whenBusy: wrong("later") }),
    ],
    ["a turn's id that is a number", "THR-93", (client, id) => client.cancelTurn(id, { turnId: wrong(1) })],
  ])("%s is invalid_params, and changes nothing", async (_what, _requirement, call) => {
    const { client, threadId } = await connect();
    const before = await client.getThread(threadId);
    await invalid(call(client, threadId));
    expect(await client.getThread(threadId)).toEqual(before);
    expect((await client.listThreads()).threads).toHaveLength(1);
  });

  it("a seq beyond the end says where the end is, and a request id of another fork is request_conflict", async () => {
    const { client, threadId } = await connect();
    await invalid(client.forkThread(threadId, { seq: 2 }), { reason: "seq_out_of_range", lastSeq: 1 });
    await client.forkThread(threadId, { clientRequestId: "r" });
    const call = client.forkThread(threadId, { clientRequestId: "r", title: "Other" });
    await refused(call, { code: "request_conflict", rpcCode: -32005, data: { reason: "request_conflict" } });
  });
});

describe("a server that announces an extension and lacks its method", () => {
  it.each(calls)("%s is method_not_found", async (name, _requirement, call) => {
    const [method = ""] = name.split(" ");
    const extensions = Object.fromEntries(
      ["rename", "archive", "fork", "queue", "search"].map((extension) => [extension, { version: 1 }]),
    );
    await using scripted = await setUp({
      initialize: () => ({ version: "1.0.0", capabilities: { ...capabilities, extensions } }),
      [method]: () => {
        throw methodNotFound(method);
      },
    });
    const error = await call(scripted.client, "ses_1").catch((thrown: unknown) => thrown);
    expect(ProtocolError.isInstance(error), String(error)).toBe(true);
    expect(error).toMatchObject({ code: "method_not_found", rpcCode: -32601 });
    expect(scripted.server.count(method)).toBe(1);
  });
});
