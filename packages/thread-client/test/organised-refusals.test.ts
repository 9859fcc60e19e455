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
