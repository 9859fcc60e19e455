import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createThreadServer, type TurnRunner } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { createDeferred } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { tool } from "@harnesskit/wire/tool";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ThreadEvent } from "../src/index.ts";
import { connectInMemory } from "./cut-scenario.ts";
import { createCutTransport } from "./cut-transport.ts";
import { failureOf } from "./sample-events.ts";
import { connectClient } from "./scripted-server.ts";

const runner: TurnRunner = {
  async run(turn) {
    const message = turn.message();
    message.append("hello");
    await message.complete();
  },
};

const until = async (events: AsyncIterator<ThreadEvent>, type: string): Promise<number> => {
  for (;;) {
    const { done, value } = await events.next();
    if (done) throw new TypeError(`no ${type} came`);
    if (value.type === type) return value.seq ?? 0;
  }
};

/** A client that follows a thread over two turns; its server then goes, and the log goes back to the first. */
const setUp = async () => {
  const root = await mkdtemp(join(tmpdir(), "harness-test-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const clock = createManualClock();
  const serve = () => createThreadServer({ runner, clock, store: createFileThreadStore({ root }) });
  const first = serve();
  let server = Promise.resolve(first);
  const link = createCutTransport(async () => connectInMemory(await server)());
  const client = await connectClient({
    transport: link.transport,
    reconnect: { initialDelayMs: 1, maxDelayMs: 1 },
  });
  const { threadId } = await client.createThread();
  const events = (await client.subscribe(threadId, { afterSeq: 0 }))[Symbol.asyncIterator]();
  const turn = async () => {
    clock.advance(1000);
    await (await client.startTurn({ threadId, input: "go" })).result;
    return until(events, "turn.completed");
  };
  await turn();
  const log = join(root, "threads", threadId, "events.jsonl");
  const backup = await readFile(log);
  const heard = await turn();

  const next = createDeferred<typeof first>();
  server = next.promise;
  await first.close();
  await writeFile(log, backup);
  const second = serve();
  onTestFinished(() => second.close());
  return { client, events, threadId, clock, heard, second, start: () => next.resolve(second) };
};

describe("a client whose server comes back with a log that went back", () => {
  it("is told, when the log is shorter than what it heard", async () => {
    const { client, events, threadId, start } = await setUp();
    start();
    expect(await failureOf(events.next())).toMatchObject({ code: "log_went_back", threadId });
    await client.close();
  });

  it("is told, when the log has grown again since, and sees what is there on a new subscription", async () => {
    const { client, events, threadId, clock, heard, second, start } = await setUp();
    const other = await connectClient({
      transport: createCutTransport(connectInMemory(second)).transport,
    });
    for (let turns = 0; turns < 2; turns++) {
      clock.advance(1000);
      await (await other.startTurn({ threadId, input: "else" })).result;
    }
    const { events: log, lastSeq } = await other.getThread(threadId);
    expect(lastSeq).toBeGreaterThan(heard);
    start();
    expect(await failureOf(events.next())).toMatchObject({
      name: "LogWentBackError",
      code: "log_went_back",
      threadId,
      cause: { rpcCode: -32602, data: { reason: "log_went_back", lastSeq } },
    });
    const anew = (await client.subscribe(threadId, { afterSeq: 0 }))[Symbol.asyncIterator]();
    const told: ThreadEvent[] = [];
    while (told.at(-1)?.seq !== lastSeq) told.push((await anew.next()).value as ThreadEvent);
    expect(told).toEqual(log);
    await client.close();
    await other.close();
  });
});

describe("a turn whose log is removed beneath its server", () => {
  it.each([
    ["its log", "events.jsonl", "log_went_back"],
    ["its directory", "", "thread_not_found"],
  ])("rejects when %s is gone: no end is told that nothing holds", async (_what, name, code) => {
    const root = await mkdtemp(join(tmpdir(), "harness-test-"));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    const server = createThreadServer({
      store: createFileThreadStore({ root }),
      runner: { run: async (turn) => void (await turn.callTool({ tool: "deploy", input: {} })) },
      tools: [tool({ name: "deploy", description: "Deploys", input: { type: "object" }, run: () => "done" })],
    });
    onTestFinished(() => server.close());
    const { transport } = createCutTransport(connectInMemory(server));
    const client = await connectClient({ transport, reconnect: { initialDelayMs: 1, maxDelayMs: 1 } });
    const { threadId } = await client.createThread();
    const onApproval = async () => {
      await rm(join(root, "threads", threadId, name), { recursive: true });
      return "once" as const;
    };
    const turn = await client.startTurn({ threadId, input: "go", onApproval });
    expect(await failureOf(turn.result)).toMatchObject({ code });
    await client.close();
  });
});
