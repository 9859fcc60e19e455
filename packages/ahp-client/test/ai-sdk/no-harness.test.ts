import { createManualClock, createMemoryPair } from "@harnesskit/wire/testing";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { describe, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { superviseModel, superviseTools } from "../../src/ai-sdk/index.ts";
import { type AhpClientOptions, createAhpClient } from "../../src/index.ts";
import { rejection, scripted } from "./models.ts";

type Answer = (request: { id: unknown; method: string; params: any }) => unknown;

const shaken = {
  protocol_version: "2.4",
  harness_info: { name: "broken", version: "1", capabilities: ["rate_limit", "confirmation"] },
};

/** A harness that shakes hands and then answers events with anything, or with nothing. */
const start = async (answer: Answer, options: Partial<AhpClientOptions> = {}) => {
  const pair = createMemoryPair({ closeTimeoutMs: 1 });
  const send = (message: unknown) => void pair.server.send(message).catch(() => {});
  pair.server.start({
    message: (message: any) => {
      if (message.id === undefined) return;
      const isHandshake = message.method === "ahp/handshake";
      const reply = isHandshake ? { jsonrpc: "2.0", id: message.id, result: shaken } : answer(message);
      if (typeof reply === "string") pair.serverWire.writeRaw(`${reply}\n`);
      else if (reply !== undefined) send(reply);
    },
    error: () => {},
    end: () => {},
    close: () => {},
  });
  const client = createAhpClient({
    framework: "t",
    version: "1",
    ...options,
    channel: pair.client,
  } as AhpClientOptions);
  await client.connect();
  onTestFinished(() => client.close());
  const runs: unknown[] = [];
  const bash = tool({
    inputSchema: z.object({ command: z.string() }),
    execute: async (input) => void runs.push(input),
  });
  return { client, pair, runs, tools: superviseTools({ bash }, client) };
};

const result =
  (decision: unknown): Answer =>
  ({ id }) => ({ jsonrpc: "2.0", id, result: decision });

const answers: Record<string, Answer> = {
  error: ({ id }) => ({ jsonrpc: "2.0", id, error: { code: -32603, message: "Handler error: no" } }),
  null: result(null),
  text: result("allow"),
  list: result([{ decision: "allow" }]),
  empty: result({}),
  "an unknown decision": result({ decision: "permit" }),
  "another event's decision": result({ decision: "approve" }),
  "a wrong case": result({ decision: "Allow" }),
  "a modify without a payload": result({ decision: "modify" }),
  "a defer without a time": result({ decision: "defer" }),
  "a defer of half a millisecond": result({ decision: "defer", retry_after_ms: 0.5 }),
  "a block without a reason": result({ decision: "block" }),
  "neither result nor error": ({ id }) => ({ jsonrpc: "2.0", id }),
  "another version of JSON-RPC": ({ id }) => ({ jsonrpc: "1.0", id, result: { decision: "allow" } }),
  "a result and an error": ({ id }) => ({
    jsonrpc: "2.0",
    id,
    result: { decision: "allow" },
    error: { code: 1, message: "no" },
  }),
};

describe("without a decision of the harness", () => {
  it("no tool runs, whatever the harness answers instead, and the model is told so", async () => {
    for (const [name, answer] of Object.entries(answers)) {
      for (const way of ["generate", "stream"] as const) {
        const { runs, tools } = await start(answer, { requestTimeoutMs: 200 });
        const { model, calls } = scripted({ calls: [["bash", { command: "rm" }]] }, { text: "sorry" });
        const options = { model, prompt: "go", tools, stopWhen: stepCountIs(2) };
        const outcome = way === "generate" ? await generateText(options) : streamText(options);
        const [step] = await outcome.steps;
        const [failed]: any[] = step?.content.filter(({ type }) => type === "tool-error") ?? [];
        expect([name, failed?.error?.name, failed?.error?.code, runs]).toEqual([
          name,
          "SupervisionError",
          expect.stringMatching(/^(unavailable|timed_out)$/),
          [],
        ]);
        expect(failed.error.failure).toMatch(/^(harness_error|invalid_answer|invalid_decision|timeout)$/);
        expect(calls[1]?.prompt.at(-1)?.content).toMatchObject([
          {
            output: { type: "error-text", value: expect.stringMatching(/^(?:SupervisionError: )?Not run, /) },
          },
        ]);
      }
    }
  });

  it("no model is called either", async () => {
    for (const [name, answer] of Object.entries(answers)) {
      const { client } = await start(answer, { requestTimeoutMs: 200 });
      const { model, calls } = scripted({ text: "hello" });
      const error = await rejection(generateText({ model: superviseModel(model, client), prompt: "hi" }));
      expect([name, error.name, calls]).toEqual([name, "SupervisionError", []]);
      expect(error.code).toMatch(/^(unavailable|timed_out)$/);
    }
  });

  it("a harness that hangs is timed out", async () => {
    const clock = createManualClock();
    const asked: string[] = [];
    const { runs, tools } = await start(({ params }) => void asked.push(params.event_type), { clock });
    const running = rejection(
      tools.bash.execute?.({ command: "rm" }, { toolCallId: "c", messages: [] }) as never,
    );
    await expect.poll(() => asked).toEqual(["pre_action"]);
    clock.advance(10_000);
    expect(await running).toMatchObject({ code: "timed_out", failure: "timeout" });
    expect(runs).toEqual([]);
  });

  it("a harness that dies, a client that is closed and one that never shook hands are unavailable", async () => {
    const dying = await start(() => undefined);
    const call = (tools: any) =>
      rejection(tools.bash.execute({ command: "rm" }, { toolCallId: "c", messages: [] }));
    const running = call(dying.tools);
    dying.pair.serverWire.kill();
    expect(await running).toMatchObject({ code: "unavailable", failure: "connection_lost" });
    expect(await call(dying.tools)).toMatchObject({ code: "unavailable", failure: "unreachable" });
    await dying.client.close();
    expect(await call(dying.tools)).toMatchObject({ code: "unavailable", failure: "closed" });
    const { client: channel } = createMemoryPair({ closeTimeoutMs: 1 });
    const stranger = createAhpClient({ framework: "t", version: "1", channel });
    const runs: unknown[] = [];
    const execute = async (input: unknown) => void runs.push(input);
    const tools = superviseTools({ bash: tool({ inputSchema: z.object({}), execute }) }, stranger);
    expect(await call(tools)).toMatchObject({
      name: "SupervisionError",
      code: "unavailable",
      cause: { code: "handshake_required" },
    });
    await stranger.close();
    expect([dying.runs, runs]).toEqual([[], []]);
  });

  it("an event that is deeper than the harness takes does not run", async () => {
    const { client } = await start(result({ decision: "allow" }));
    const runs: unknown[] = [];
    const execute = async (input: unknown) => void runs.push(input);
    const bash = tool({ inputSchema: z.object({}), execute });
    const tools = superviseTools({ bash }, client, { fields: { depth: 11 } });
    const error = await rejection(tools.bash.execute?.({}, { toolCallId: "c", messages: [] }) as never);
    expect(error).toMatchObject({ code: "unavailable", failure: "depth_exceeded" });
    const throwing = superviseTools({ bash }, client, {
      fields: () => {
        throw new TypeError("broken");
      },
    });
    expect(
      await rejection(throwing.bash.execute?.({}, { toolCallId: "c", messages: [] }) as never),
    ).toMatchObject({ code: "unavailable", cause: { name: "TypeError" } });
    expect(runs).toEqual([]);
  });

  it("it runs only where failOpen says so, and somebody hears of it", async () => {
    const opened: string[] = [];
    const { runs, tools, pair } = await start(() => undefined, {
      failOpen: { pre_action: { decision: "allow" } },
      onFailOpen: ({ eventType }) => opened.push(eventType),
    });
    pair.serverWire.kill();
    await tools.bash.execute?.({ command: "ls" }, { toolCallId: "c", messages: [] });
    expect(opened).toEqual(["pre_action"]);
    expect(runs).toEqual([{ command: "ls" }]);
  });
});
