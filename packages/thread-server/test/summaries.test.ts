import type { Event } from "@harnesskit/protocol/threads";
import { createDeferred } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { isNightly } from "../../../test-kit/nightly.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { type AiSdkRunnerOptions, createAiSdkRunner } from "../src/ai-sdk/index.ts";
import { createThreadServer, type ThreadServerOptions } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { createFileThreadStore } from "../src/node/index.ts";
import { type AskedRequest, countingModel } from "./support/counting-model.ts";
import { overriding } from "./support/overriding.ts";
import { ofType, RawClient } from "./support/raw-client.ts";
import { callingRunner, recordingTool } from "./support/tools.ts";

/** Of a long thread. */
const turns = isNightly ? 2000 : 200;

const allowAll = { before: () => ({ verdict: "allow" }) as const };
const never = new Promise<never>(() => {});

type RunnerOptions = Omit<AiSdkRunnerOptions, "model" | "maxRetries">;

const serve = async (
  { model }: Pick<ReturnType<typeof countingModel>, "model">,
  options: Partial<ThreadServerOptions> = {},
  context: RunnerOptions = {},
) => {
  const runner = createAiSdkRunner({ model, maxRetries: 0, ...context });
  const { store = createMemoryThreadStore() } = options;
  const server = createThreadServer({ runner, gate: allowAll, ...options, store });
  const client = RawClient.connect(server);
  const threadId = await client.createThread();
  const turn = async (text: string) => {
    const { result } = await client.startTurn(threadId, text);
    const end = await client.turnEnd(result.turnId);
    client.received.length = 0;
    return end.params;
  };
  const events = async (): Promise<Event[]> => {
    const all: Event[] = [];
    for await (const event of store.events(threadId)) all.push(event);
    return all;
  };
  return { server, client, threadId, turn, events };
};

const summariesIn = (events: readonly Event[]) =>
  ofType(events, "item.completed").flatMap(({ data: { item } }) =>
    item.type === "assistant_message" && item.data?.summary ? [item.data] : [],
  );

describe("a thread with a model of a small context", () => {
  it("goes on for hundreds of turns, and the last ones cost what the first ones cost", async () => {
    const fake = countingModel({
      window: 12_000,
      says: ({ isSummary }, index) =>
        isSummary ? `Summary ${index}: they count.` : `answer ${index} ${"a".repeat(700)}`,
    });
    const { turn, events, server } = await serve(fake, {}, { contextWindows: { "counting-": 12_000 } });
    const costs: number[] = [];
    let before = 0;
    for (let count = 0; count < turns; count++) {
      expect((await turn(`question ${count} ${"q".repeat(700)}`)).status).toBe("completed");
      costs.push(fake.requests.slice(before).reduce((sum, { tokens }) => sum + tokens, 0));
      before = fake.requests.length;
    }
    expect(fake.refused()).toBe(0);
    const mean = (from: number, to: number) =>
      costs.slice(from, to).reduce((sum, cost) => sum + cost, 0) / (to - from);
    expect(mean(0.75 * turns, turns) / mean(0.25 * turns, 0.5 * turns)).toBeLessThan(1.1);
    const summaries = summariesIn(await events());
    expect(summaries.length).toBeGreaterThan(4);
    expect(summaries.at(-1)?.summary?.messages).toBeGreaterThan(1.6 * turns);
    expect(fake.requests.at(-1)?.text).toContain(String(summaries.at(-1)?.text));
    const made = fake.requests.filter(({ isSummary }) => isSummary);
    expect(made[1]?.text).toContain(String(summaries[0]?.text));
    await server.close();
  });

  it("goes on in a turn whose tool gives 5 MB, of which the model can read more", async () => {
    const half = "0123456789".repeat(250_000);
    const output = `begin ${half}in the "middle"${half} the end`;
    const read = recordingTool("read", "read", async () => output);
    const seen: string[] = [];
    const fake = countingModel({
      window: 32_000,
      says: ({ text }, index) => {
        seen.push(text);
        if (index < 3) return [{ tool: "read", input: {} }];
        const id = /read_output \{[\\"]+id[\\"]+:[\\"]+(item_\w+)/.exec(text)?.[1];
        if (index === 3) return [{ tool: "read_output", input: { id, offset: 100_000, limit: 30 } }];
        if (index === 4) return [{ tool: "read_output", input: { id, find: 'the "middle"' } }];
        if (index === 5) return [{ tool: "read_output", input: { id, offset: 2_500_000, limit: 20 } }];
        return "done";
      },
    });
    const { turn, server } = await serve(fake, { tools: [read] });
    expect(await turn("read it")).toMatchObject({ status: "completed" });
    expect(fake.refused()).toBeLessThan(2);
    expect(seen.at(-1)).toContain('"offset":100000');
    expect(seen.at(-1)).toContain("the end");
    expect(seen[5]).toMatch(/places.{1,10}offset.{1,5}2500009/);
    expect(seen[6]).toContain('"offset":2500000,"text":"456789in the ');
    expect(fake.requests.at(-1)?.options.tools?.map(({ name }) => name)).toEqual(["read", "read_output"]);
    expect(fake.requests.at(0)?.options.tools?.map(({ name }) => name)).toEqual(["read"]);
    await server.close();
  });

  it("says of an output that it keeps a part of how the rest is read, where the context has room for that part", async () => {
    const output = { lines: `${"a".repeat(400_000)}needle${"b".repeat(400_000)}` };
    const seen: string[] = [];
    const fake = countingModel({
      window: 1_000_000,
      says: ({ text }, index) => {
        seen.push(text);
        if (index === 0) return [{ tool: "read", input: {} }];
        const id = /read_output \{[\\"]+id[\\"]+:[\\"]+(item_\w+)/.exec(text)?.[1];
        if (index === 1) return [{ tool: "read_output", input: { id, find: "needle" } }];
        return "done";
      },
    });
    const read = recordingTool("read", "read", async () => output);
    const windows = { contextWindows: { "": 1_000_000 }, maxContextLength: 3_000_000 };
    const { turn, server } = await serve(fake, { tools: [read] }, windows);
    expect(await turn("read it")).toMatchObject({ status: "completed" });
    expect(seen.at(-1)).toContain("aaneedlebb");
    await server.close();
  });

  it("makes a summary of the steps of a running turn, and keeps its prompt", async () => {
    const say = "word ".repeat(1500);
    const fake = countingModel({
      window: 8_000,
      says: ({ isSummary }, index) =>
        isSummary ? "Read a lot." : index < 12 ? [{ tool: "note", input: { say } }] : "done",
    });
    const note = recordingTool("note", "read", async () => "noted");
    const { turn, events, server } = await serve(fake, { tools: [note] }, { contextWindows: { "": 8_000 } });
    expect(await turn("the task")).toMatchObject({ status: "completed" });
    expect(fake.refused()).toBe(0);
    const summaries = summariesIn(await events());
    expect(summaries.length).toBeGreaterThan(1);
    expect(summaries.at(-1)?.summary?.step).toBeGreaterThan(3);
    expect(fake.requests.at(-1)?.text).toMatch(/Read a lot\..*the task/s);
    const next = fake.requests.length;
    await turn("and now?");
    expect(fake.requests[next]?.text).toMatch(/Read a lot\..*the task.*done.*and now/s);
    await server.close();
  });

  it("says so where the model makes no summary, and what was asked", async () => {
    const fake = countingModel({ says: ({ isSummary }) => (isSummary ? "" : "b".repeat(3_000)) });
    const { turn, events, server } = await serve(fake, {}, { maxContextLength: 8_000 });
    for (const word of ["one", "two", "three", "four"]) await turn(word);
    const [summary] = summariesIn(await events());
    expect(summary?.text).toMatch(/^No summary could be made \(the model wrote none\)\n?.*\n- one/);
    await server.close();
  });
});

/** A store whose process dies behind the append of a summary. */
const dyingStore = (root: string) => {
  const died = createDeferred<void>();
  const files = createFileThreadStore({ root, isOwnerDead: () => true });
  let isDead = false;
  const store = overriding(files, {
    append: async (threadId, events, options) => {
      if (isDead) return never;
      await files.append(threadId, events, options);
      if (summariesIn(events).length === 0) return;
      isDead = true;
      died.resolve();
      return never;
    },
    update: (thread) => (isDead ? never : files.update(thread)),
  });
  return { store, files, died: died.promise };
};

it("a summary is paid once, also where its server is killed behind it", async () => {
  await using directory = await temporaryDirectory();
  const root = directory.path;
  const say = "word ".repeat(1500);
  const fake = countingModel({
    says: ({ isSummary, text }) => {
      if (isSummary) return "Read a lot.";
      return text.includes("Read a lot.") ? "done" : [{ tool: "note", input: { say } }];
    },
  });
  const note = recordingTool("note", "read", async () => "noted");
  const options = { tools: [note], interruptedTurns: "retry", limits: { cancelTimeoutMs: 1 } } as const;
  const { store, files, died } = dyingStore(root);
  const first = await serve(fake, { ...options, store }, { maxContextLength: 20_000 });
  void first.client.startTurn(first.threadId, "the task");
  await died;
  await files.close();
  const runner = createAiSdkRunner({ model: fake.model, maxRetries: 0, maxContextLength: 20_000 });
  const second = createThreadServer({
    ...options,
    runner,
    gate: allowAll,
    store: createFileThreadStore({ root, isOwnerDead: () => true }),
  });
  const client = RawClient.connect(second);
  await client.call("thread.subscribe", { threadId: first.threadId, afterSeq: 0 });
  const end = await client.notification("turn.completed");
  expect(fake.requests.filter(({ isSummary }) => isSummary)).toHaveLength(1);
  const tokens = fake.requests.reduce((sum, request) => sum + request.tokens, 0);
  expect(end.params.turn.usage.inputTokens).toBe(tokens);
  await second.close();
});

it("a summary is found again in a log whose end does not have it", async () => {
  const fake = countingModel({
    says: ({ isSummary }) => (isSummary ? "They counted." : "b".repeat(3_000)),
  });
  const store = createMemoryThreadStore();
  const first = await serve(fake, { store }, { maxContextLength: 8_000 });
  for (const word of ["one", "two", "three", "four"]) await first.turn(word);
  expect(summariesIn(await first.events())).toHaveLength(1);
  await first.turn("five");
  await first.server.close();
  const runner = createAiSdkRunner({ model: fake.model, maxContextLength: 400_000 });
  const server = createThreadServer({ runner, store, limits: { maxOpenBytes: 100 } });
  const client = RawClient.connect(server);
  const { result } = await client.startTurn(first.threadId, "six");
  await client.turnEnd(result.turnId);
  expect(fake.requests.at(-1)?.text).toContain("They counted.");
  await server.close();
});

describe("thread.compact", () => {
  const says = ({ isSummary }: AskedRequest) => (isSummary ? "They greeted." : "hello");

  it("is a turn that makes a summary of all turns before it, and says what it left out", async () => {
    const fake = countingModel({ says });
    const { client, threadId, turn, events, server } = await serve(fake);
    const { capabilities } = (await client.call("initialize")).result;
    expect(capabilities.extensions.compact).toEqual({ version: 1 });
    await turn("one");
    await turn("two");
    const { result } = await client.call("thread.compact", { threadId });
    expect((await client.turnEnd(result.turnId)).params).toMatchObject({ status: "completed" });
    const [summary] = summariesIn(await events());
    expect(summary).toMatchObject({ text: "They greeted.", summary: { messages: 4, calls: 0 } });
    await turn("three");
    const last = fake.requests.at(-1)?.text;
    expect(last).toMatch(/4 messages before this are left out.*They greeted\..*three/);
    expect(last).not.toContain("/compact");
    expect(last).not.toContain("two");
    await server.close();
  });

  it("does nothing where nothing was said since the last summary", async () => {
    const fake = countingModel({ says });
    const { client, threadId, turn, events, server } = await serve(fake);
    await turn("one");
    for (let count = 0; count < 2; count++) {
      const { result } = await client.call("thread.compact", { threadId });
      expect((await client.turnEnd(result.turnId)).params).toMatchObject({ status: "completed" });
    }
    expect(summariesIn(await events())).toHaveLength(1);
    await server.close();
  });

  it("is refused while a turn waits for an approval, which stays", async () => {
    const fake = countingModel({ says: () => [{ tool: "write", input: {} }] });
    const write = recordingTool("write", "write", async () => "written");
    const { client, threadId, server } = await serve(fake, { tools: [write], gate: undefined });
    void client.startTurn(threadId, "write it");
    await client.notification("approval.requested");
    const { error } = await client.call("thread.compact", { threadId });
    expect(error).toMatchObject({ code: -32002 });
    await server.close();
  });

  it("is no method of a server whose agent makes no summaries", async () => {
    const server = createThreadServer({ runner: callingRunner() });
    const client = RawClient.connect(server);
    const threadId = await client.createThread();
    expect((await client.call("thread.compact", { threadId })).error).toMatchObject({ code: -32601 });
    expect((await client.call("initialize")).result.capabilities.extensions.compact).toBeUndefined();
    await server.close();
  });
});

it("a turn of twenty steps pays each prefix once", async () => {
  const fake = countingModel({
    provider: "anthropic.messages",
    says: (_, index) => (index < 19 ? [{ tool: "read", input: { index } }] : "done"),
  });
  const tools = ["read", "alpha", "zeta"].map((name) =>
    recordingTool(name, "read", async () => `line\n`.repeat(200)),
  );
  const { turn, server } = await serve(fake, { tools });
  const { turn: ended } = await turn("read all");
  expect(fake.requests).toHaveLength(20);
  const last = (fake.requests.at(-1)?.text.length ?? 0) + 1;
  expect(fake.paid.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(last);
  expect(ended.usage.cacheReadTokens).toBeGreaterThan(10_000);
  expect(ended.usage.cacheWriteTokens).toBeLessThanOrEqual(Math.ceil(last / 3) + 20);
  const [first] = fake.requests;
  expect(first?.options.tools?.map(({ name }) => name)).toEqual(["alpha", "read", "zeta"]);
  const breakpoints = [...(first?.options.tools ?? []), ...(first?.options.prompt ?? [])].flatMap(
    (piece, index) => (JSON.stringify(piece).includes("cacheControl") ? [index] : []),
  );
  expect(breakpoints).toEqual([2, 3, 4]);
  await server.close();
});
