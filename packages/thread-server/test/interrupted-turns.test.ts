import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Event } from "@harnesskit/protocol/threads";
import { createDeferred } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { isNightly } from "../../../test-kit/nightly.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { createAiSdkRunner } from "../src/ai-sdk/index.ts";
import { createThreadServer, type ThreadServerOptions, type Tool, type TurnRunner } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { createFileThreadStore } from "../src/node/index.ts";
import { dyingStore } from "./support/failing-stores.ts";
import { overriding } from "./support/overriding.ts";
import { ofType, RawClient } from "./support/raw-client.ts";
import { call, finish, scripted, text } from "./support/scripted-model.ts";
import { callingRunner, recordingTool } from "./support/tools.ts";

const allowAll = { before: () => ({ verdict: "allow" }) as const };

/** A server over a directory, which goes on with what was left there. Closes with its files. */
const serve = (
  root: string,
  options: Partial<ThreadServerOptions>,
  dies: (events: readonly Event[]) => "before" | "after" | undefined = () => undefined,
) => {
  const files = createFileThreadStore({ root, isOwnerDead: () => true });
  const { store, died } = dyingStore(files, dies);
  const server = createThreadServer({
    runner: callingRunner(),
    store,
    gate: allowAll,
    interruptedTurns: "retry",
    limits: { cancelTimeoutMs: 1 },
    ...options,
  });
  let isDead = false;
  void died.then(() => {
    isDead = true;
  });
  return {
    server,
    client: RawClient.connect(server),
    died,
    [Symbol.asyncDispose]: () => (isDead ? files.close() : server.close()),
  };
};

/** What a server that died has left, in a directory of its own. */
const copied = async (root: string): Promise<string> => {
  const left = `${root}-left`;
  await cp(root, left, { recursive: true });
  return left;
};

const isStart = (tool: string) => (events: readonly Event[]) =>
  events.some(
    ({ type, data }) =>
      (type === "item.started" || type === "item.updated") &&
      data.item.type === "tool_exec" &&
      data.item.data?.tool === tool,
  )
    ? ("after" as const)
    : undefined;

describe("a turn whose server died, with interruptedTurns", () => {
  const runner = callingRunner({ tool: "look", input: {} }, { tool: "act", input: {} });
  const tools = (): [ReturnType<typeof recordingTool>, ReturnType<typeof recordingTool>] => [
    recordingTool("look", "read"),
    recordingTool("act", "execute"),
  ];

  const diedAt = async (tool: string, root: string, options: Partial<ThreadServerOptions>) => {
    await using life = serve(root, { runner, ...options }, isStart(tool));
    const threadId = await life.client.createThread();
    const { result } = await life.client.startTurn(threadId);
    await life.died;
    return { threadId, turnId: result.turnId as string, left: await copied(root) };
  };

  it("report: ends as interrupted", async () => {
    await using dir = await temporaryDirectory();
    const options = { tools: tools(), interruptedTurns: "report" } as const;
    const { threadId, turnId, left } = await diedAt("act", join(dir.path, "first"), options);
    await using life = serve(left, { runner, ...options });
    const { client } = life;
    const events = await client.events(threadId);
    expect(events.at(-1)).toMatchObject({ type: "turn.error", data: { turnId, code: "interrupted" } });
  });

  it("retry: goes on by itself, gives recorded outcomes, and tells what may have run as unknown", async () => {
    await using dir = await temporaryDirectory();
    const { threadId, turnId, left } = await diedAt("act", join(dir.path, "first"), { tools: tools() });
    const [look, act] = tools();
    await using life = serve(left, { runner, tools: [look, act] });
    const { client } = life;
    expect((await client.turnEnd(turnId)).params).toMatchObject({ status: "completed", turn: { turnId } });
    expect([look.runs, act.runs]).toEqual([[], []]);
    const events = await client.events(threadId);
    expect(ofType(events, "turn.resumed")).toMatchObject([
      { data: { turnId, reason: "interrupted", attempt: 1 } },
    ]);
    expect(ofType(events, "turn.started")).toHaveLength(1);
    expect(events.filter(({ type }) => type === "turn.completed" || type === "turn.error")).toHaveLength(1);
    const said = ofType(events, "item.completed").findLast(({ data }) => data.type === "assistant_message");
    expect(said?.data.item.data).toMatchObject({ text: "succeeded,unknown" });
  });

  it.each<[string, Partial<Tool>, number]>([
    ["only reads", { effects: "read" }, 1],
    ["declares that repeating is harmless", { idempotent: true }, 1],
    ["may have changed something", {}, 0],
  ])("retry: a call whose tool %s", async (_what, more, runs) => {
    await using dir = await temporaryDirectory();
    const { threadId, turnId, left } = await diedAt("act", join(dir.path, "first"), { tools: tools() });
    const [look, act] = tools();
    await using life = serve(left, { runner, tools: [look, { ...act, ...more }] });
    const { client } = life;
    await client.turnEnd(turnId);
    expect(act.runs).toHaveLength(runs);
    const items = ofType(await client.events(threadId), "item.completed").filter(
      ({ data }) => data.type === "tool_exec",
    );
    expect(items.map(({ data }) => data.item.data)).toMatchObject([
      { tool: "look", status: "succeeded" },
      { tool: "act", status: runs === 1 ? "succeeded" : "unknown" },
    ]);
  });

  it("retry: gives up after so many attempts that did not get further, with waits between them", async () => {
    await using dir = await temporaryDirectory();
    const { threadId, turnId, left } = await diedAt("look", join(dir.path, "first"), { tools: tools() });
    const clock = createManualClock();
    const limits = { maxTurnAttempts: 2, cancelTimeoutMs: 1 };
    const options = { runner, tools: tools(), clock, limits };
    let root = left;
    for (let attempt = 1; attempt <= 2; attempt++) {
      await using life = serve(root, options, isStart("look"));
      await life.client.call("thread.get", { threadId });
      if (attempt > 1) clock.advance(2000);
      await life.died;
      root = await copied(root);
    }
    await using life = serve(root, options);
    const { client } = life;
    const events = await client.events(threadId);
    expect(ofType(events, "turn.resumed").map(({ data }) => data.attempt)).toEqual([1, 2]);
    const calls = events.filter(({ data }) => "type" in data && data.type === "tool_exec");
    expect(calls.map(({ type }) => type)).toEqual([
      "item.started",
      "item.updated",
      "item.updated",
      "item.completed",
    ]);
    expect(events.at(-1)).toMatchObject({ type: "turn.error", data: { turnId, code: "interrupted" } });
  });

  it("retry: a server that is closed leaves the turn, and the next one goes on", async () => {
    await using dir = await temporaryDirectory();
    const running = createDeferred<void>();
    const hanging: TurnRunner = {
      run: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          running.resolve();
        }),
    };
    const first = serve(dir.path, { runner: hanging });
    const threadId = await first.client.createThread();
    const { result } = await first.client.startTurn(threadId);
    await running.promise;
    await first.server.close();
    await using next = serve(dir.path, { runner: callingRunner() });
    expect((await next.client.turnEnd(result.turnId)).params.status).toBe("completed");
  });
});

const steps = 10;

/** A model that acts twice in each of ten steps, and counts how often it was asked for each. */
const tenSteps = (asked: number[]) =>
  scripted(({ prompt }) => {
    const step = prompt.filter(({ role }) => role === "assistant").length;
    asked[step] = (asked[step] ?? 0) + 1;
    const said = text(`step ${step}`);
    if (step === steps - 1) return [...said, finish()];
    const acts = ["a", "b"].map((name) => call(name, "act", { command: `${name}${step}` }));
    return [...said, ...acts, finish("tool-calls")];
  }).model;

describe("a turn of ten steps on the AI SDK whose server dies at its writes", () => {
  it("is paid once for each recorded step, does each thing at most once, and ends once, wherever it dies", async () => {
    // At each eighth write, which is another one in each step; the crash campaign dies at all of them.
    let deaths = 0;
    for (let at = 1, hasDied = true; hasDied; at += isNightly ? 5 : 8) {
      await using dir = await temporaryDirectory();
      const asked: number[] = [];
      const act = recordingTool("act", "execute");
      const options = { runner: createAiSdkRunner({ model: tenSteps(asked) }), tools: [act] };
      let writes = 0;
      await using first = serve(join(dir.path, "first"), options, () =>
        writes++ === at ? "after" : undefined,
      );
      const threadId = await first.client.createThread();
      const ended = first.client
        .startTurn(threadId)
        .then(({ result }) => first.client.turnEnd(result.turnId))
        .then(() => false);
      hasDied = await Promise.race([first.died.then(() => true), ended]);
      if (!hasDied) break;
      deaths++;
      const left = await copied(join(dir.path, "first"));
      const log = await readFile(join(left, "threads", threadId, "events.jsonl"), "utf8");
      const stored = log.split("\n").flatMap((line): Event[] => (line === "" ? [] : [JSON.parse(line)]));
      const isWhole = stored.some(({ type }) => type === "turn.completed");
      await using second = serve(left, options);
      const turnId = ofType(stored, "turn.started")[0]?.data.turnId ?? "";
      if (isWhole) await second.client.call("thread.get", { threadId });
      else await second.client.turnEnd(turnId);
      const events = await second.client.events(threadId);
      const ends = events.filter(({ type }) => type === "turn.completed" || type === "turn.error");
      expect(ends).toMatchObject([
        { type: "turn.completed", data: { turn: { usage: { inputTokens: 10 * steps } } } },
      ]);
      for (const { data } of ofType(stored, "turn.step")) expect(asked[data.step]).toBe(1);
      const effects = act.runs.map(({ command }) => command);
      expect(effects).toEqual([...new Set(effects)]);
      const calls = ofType(events, "item.completed").filter(({ data }) => data.type === "tool_exec");
      expect(calls).toHaveLength(2 * (steps - 1));
    }
    expect(deaths).toBeGreaterThan(steps / 2);
  }, 120_000);
});

it("thread.create that is sent again gives the thread while another server writes it and this one tries to open it", async () => {
  const inner = createMemoryThreadStore();
  const store = overriding(inner, { close: async () => {} });
  const asked = createDeferred<void>();
  const mayAnswer = createDeferred<void>();
  const slow = overriding(store, {
    lease: async (threadId) => {
      asked.resolve();
      await mayAnswer.promise;
      return inner.lease(threadId);
    },
  });
  await using one = createThreadServer({ runner: callingRunner(), store });
  await using other = createThreadServer({ runner: callingRunner(), store: slow });
  const again = { clientRequestId: "r" };
  const { result } = await RawClient.connect(one).call("thread.create", again);
  const { threadId } = result.thread;
  const reading = RawClient.connect(other).call("thread.get", { threadId });
  await asked.promise;
  const created = RawClient.connect(other).call("thread.create", again);
  await new Promise((resolve) => setImmediate(resolve));
  mayAnswer.resolve();
  expect((await created).result).toMatchObject({ thread: { threadId } });
  expect((await reading).result).toMatchObject({ thread: { threadId } });
});
