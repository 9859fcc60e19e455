import { createManualClock, createMemoryPair } from "@harnesskit/wire/testing";
import { generateText, stepCountIs, tool } from "ai";
import { describe, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { superviseModel, superviseTools } from "../../src/ai-sdk/index.ts";
import { type AhpClientOptions, createAhpClient } from "../../src/index.ts";
import { rejection, scripted } from "./models.ts";

type Answer = (request: { id: unknown; method: string; params: any }) => unknown;

const shaken = {
  protocol_version: "2.4",
  harness_info: { name: "broken", version: "1", capabilities: ["confirmation"] },
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
    transport: { connect: async () => pair.client },
    reconnect: false,
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

const answers: readonly [string, Answer][] = [
  ["an error", ({ id }) => ({ jsonrpc: "2.0", id, error: { code: -32603, message: "Handler error: no" } })],
  ["another event's decision", result({ decision: "approve" })],
  ["neither result nor error", ({ id }) => ({ jsonrpc: "2.0", id })],
];

const callOptions = { toolCallId: "c", messages: [] };

describe("without a decision of the harness", () => {
  it.each(answers)("no tool runs after %s, and the model reads why", async (_name, answer) => {
    const { runs, tools } = await start(answer);
    const { model, calls } = scripted({ calls: [["bash", { command: "rm" }]] }, { text: "sorry" });
    const { steps } = await generateText({ model, prompt: "go", tools, stopWhen: stepCountIs(2) });
    expect(steps[0]?.content.at(-1)).toMatchObject({
      type: "tool-error",
      error: {
        ...{ name: "SupervisionError", code: "unavailable" },
        failure: expect.stringMatching(/^(?:harness_error|invalid_answer|invalid_decision)$/),
      },
    });
    const value = expect.stringMatching(/^(?:SupervisionError: )?Not run, /);
    expect(calls[1]?.prompt.at(-1)?.content).toMatchObject([{ output: { type: "error-text", value } }]);
    expect(runs).toEqual([]);
  });

  it.each(answers)("no model is called after %s", async (_name, answer) => {
    const { client } = await start(answer);
    const { model, calls } = scripted({ text: "hello" });
    const error = await rejection(generateText({ model: superviseModel(model, client), prompt: "hi" }));
    expect([error.name, error.code, calls]).toEqual(["SupervisionError", "unavailable", []]);
  });

  it("a harness that hangs is timed out", async () => {
    const clock = createManualClock();
    const asked: string[] = [];
    const { runs, tools } = await start(({ params }) => void asked.push(params.event_type), { clock });
    const running = rejection(tools.bash.execute?.({ command: "rm" }, callOptions) as never);
    await expect.poll(() => asked).toEqual(["pre_action"]);
    clock.advance(10_000);
    expect(await running).toMatchObject({ code: "timed_out", failure: "timeout" });
    expect(runs).toEqual([]);
  });

  it("a harness that dies, a client that is closed and one that never shook hands are unavailable", async () => {
    const dying = await start(() => undefined);
    const call = (tools: any) => rejection(tools.bash.execute({ command: "rm" }, callOptions));
    const running = call(dying.tools);
    dying.pair.serverWire.kill();
    expect(await running).toMatchObject({ code: "unavailable", failure: "connection_lost" });
    expect(await call(dying.tools)).toMatchObject({ code: "unavailable", failure: "unreachable" });
    await dying.client.close();
    expect(await call(dying.tools)).toMatchObject({ code: "unavailable", failure: "closed" });
    const { client: channel } = createMemoryPair({ closeTimeoutMs: 1 });
    const transport = { connect: async () => channel };
    const stranger = createAhpClient({ framework: "t", version: "1", transport });
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
    const error = await rejection(tools.bash.execute?.({}, callOptions) as never);
    expect(error).toMatchObject({ code: "unavailable", failure: "depth_exceeded" });
    const throwing = superviseTools({ bash }, client, {
      fields: () => {
        throw new TypeError("broken");
      },
    });
    expect(await rejection(throwing.bash.execute?.({}, callOptions) as never)).toMatchObject({
      code: "unavailable",
      cause: { name: "TypeError" },
    });
    expect(runs).toEqual([]);
  });
});
