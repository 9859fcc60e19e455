import { createDeferred } from "@harnesskit/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type StreamPayload, splitText } from "../src/call-stream.ts";
import { type AgentLimits, defineAgent, type ToolContext, tool } from "../src/index.ts";
import { agentId, connected, type ScriptedCore } from "./support.ts";

const agentOf = (run: (context: ToolContext, input: any) => unknown, limits: Partial<AgentLimits> = {}) =>
  defineAgent({
    id: agentId,
    version: "1.0.0",
    limits,
    tools: [
      tool({
        name: "say",
        description: "",
        input: { type: "object" },
        run: (input, context) => run(context, input) as object,
      }),
    ],
  });

const payloads = (core: ScriptedCore, id: string): StreamPayload[] =>
  core.streams(id).map(({ payload }) => payload);
const textOf = (messages: readonly StreamPayload[], channel: string): string =>
  messages
    .map((message) => (message.channel === channel ? (message.data as { text: string }).text : ""))
    .join("");

const expectOrder = (messages: readonly StreamPayload[]) =>
  expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_message, index) => index + 1));

describe("a running call", () => {
  it("splits long text between characters", async () => {
    const text = "aé€😀".repeat(500);
    const { core } = await connected(agentOf(({ stdout }) => stdout(text), { maxStreamChunkBytes: 101 }));
    const id = core.call("say");
    await core.result(id);
    const messages = payloads(core, id);
    expectOrder(messages);
    expect(textOf(messages, "stdout")).toBe(text);
    for (const { data } of messages) {
      expect(Buffer.byteLength((data as { text: string }).text)).toBeLessThanOrEqual(101);
    }
  });

  it.each([
    ["a number as text", ({ stdout }: ToolContext) => stdout(5 as never)],
    ["an array as partial result", ({ partialResult }: ToolContext) => partialResult([])],
    ["a partial result without JSON", ({ partialResult }: ToolContext) => partialResult({ n: 1n })],
  ])("fails when it streams %s", async (_what, run) => {
    const errors: unknown[] = [];
    const made = tool({
      name: "say",
      description: "",
      input: {},
      run: (_input, context) => run(context) as never,
    });
    const agent = defineAgent({
      id: agentId,
      version: "1.0.0",
      tools: [made],
      onError: (error) => void errors.push(error.cause),
    });
    const { core } = await connected(agent);
    const { payload } = await core.result(core.call("say"));
    expect(payload).toMatchObject({ status: "failed", error: { code: "tool.failed" } });
    expect(errors).toMatchObject([{ code: "invalid_argument" }]);
  });
});

describe("what a call streams is bounded", () => {
  it("by one mark, after which the rest is dropped and counted", async () => {
    const agent = agentOf(
      async ({ stdout, partialResult }) => {
        for (let count = 0; count < 100; count++) await stdout("x".repeat(36));
        await partialResult({ n: 1 });
        return {};
      },
      { maxStreamBytes: 1000 },
    );
    const { core } = await connected(agent);
    const id = core.call("say");
    const { metrics } = (await core.result(id)).payload;
    const messages = payloads(core, id);
    expectOrder(messages);
    expect(messages).toHaveLength(11);
    expect(
      messages.slice(0, 10).every(({ channel, done }) => channel === "stdout" && done === undefined),
    ).toBe(true);
    expect(messages[10]).toMatchObject({
      channel: "log",
      done: true,
      data: { text: expect.stringContaining("1000") },
    });
    expect(metrics).toMatchObject({
      stream_messages: 11,
      stream_dropped_messages: 91,
      stream_dropped_bytes: 90 * 36 + 7,
    });
  });

  it("also where single messages are too large", async () => {
    const agent = agentOf(
      async ({ partialResult, stdout }) => {
        await partialResult({ text: "x".repeat(1000) });
        await stdout("after");
        return {};
      },
      { maxStreamChunkBytes: 500 },
    );
    const { core } = await connected(agent);
    const id = core.call("say");
    await core.result(id);
    expect(payloads(core, id)).toMatchObject([
      { seq: 1, channel: "log", data: { text: "[1 stream messages were dropped here]" } },
      { seq: 2, channel: "stdout", data: { text: "after" } },
    ]);
  });
});

describe("a core that reads slowly", () => {
  const pair = { capacityBytes: 1024 };
  const limits = { maxSendBytes: 2000, maxStreamQueueBytes: 5000 };

  /** Connects, and stops the core's reading from the call on. */
  const slow = async (run: (context: ToolContext) => unknown) => {
    const { core, session } = await connected(agentOf(run, limits), { pair });
    await core.settled();
    const reading = createDeferred<void>();
    core.hold = reading.promise;
    const goOn = () => {
      core.hold = undefined;
      reading.resolve();
    };
    return { core, session, goOn };
  };

  it("loses nothing of a tool that waits", async () => {
    const text = (count: number) => `${count}:${"x".repeat(400)};`;
    let written = 0;
    const { core, goOn } = await slow(async ({ stdout }) => {
      for (; written < 200; written++) await stdout(text(written));
      return {};
    });
    const id = core.call("say");
    await core.until(() => core.streams(id).length > 0);
    expect(written).toBeLessThan(40);
    goOn();
    await core.result(id);
    const messages = payloads(core, id);
    expectOrder(messages);
    expect(textOf(messages, "stdout")).toBe(Array.from({ length: 200 }, (_, count) => text(count)).join(""));
  });

  it("gets marks in place of what a tool did not wait for, and the result", async () => {
    const begun = createDeferred<void>();
    const { core, goOn } = await slow(async ({ stdout }) => {
      for (let count = 0; count < 5000; count++) {
        void stdout(`${count}:${"x".repeat(100)}`);
      }
      begun.resolve();
      return { done: true };
    });
    const id = core.call("say");
    await begun.promise;
    goOn();
    const { payload } = await core.result(id);
    const messages = payloads(core, id);
    expectOrder(messages);
    expect(messages.length).toBeLessThan(200);
    expect(messages.at(-1)).toMatchObject({
      channel: "log",
      data: { text: expect.stringContaining("dropped here") },
    });
    expect(payload.metrics.stream_dropped_messages).toBeGreaterThan(4000);
    expect(payload).toMatchObject({ status: "succeeded", output: { done: true } });
  });

  it("does not hold a tool back for ever: a lost connection lets it go on", async () => {
    const ended = createDeferred<string>();
    const { core, session } = await slow(async ({ stdout, signal }) => {
      while (!signal.aborted) await stdout("x".repeat(500));
      ended.resolve(signal.reason.code);
    });
    const id = core.call("say");
    await core.until(() => core.streams(id).length > 0);
    void session.close();
    expect(await ended.promise).toBe("connection_closed");
    await session.closed;
  });

  it("gets its pings and refusals bounded too: the agent reads no further", async () => {
    const { core, session } = await connected(
      agentOf(() => ({}), { maxSendBytes: 1000, maxWaitingReplies: 10 }),
      { pair },
    );
    await core.settled();
    const reading = createDeferred<void>();
    core.hold = reading.promise;
    for (let count = 0; count < 2000; count++) core.send("core.ping", {});
    await core.count("agent.pong", 2);
    core.hold = undefined;
    reading.resolve();
    await core.count("agent.pong", 2001);
    await session.close();
  });
});

it("splitting text keeps every character whole and every piece small", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "é", "€", "😀", "\ud800") });
  fc.assert(
    fc.property(text, fc.integer({ min: 4, max: 50 }), (whole, maxBytes) => {
      const pieces = [...splitText(whole, maxBytes)];
      expect(pieces.join("")).toBe(whole);
      for (const piece of pieces) {
        expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(maxBytes);
        expect(/[\ud800-\udbff]$/.test(piece) && /^[\udc00-\udfff]/.test(piece)).toBe(false);
      }
    }),
  );
});
