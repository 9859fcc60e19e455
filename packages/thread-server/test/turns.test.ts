import { describe, expect, it } from "vitest";
import { type ThreadServerOptions, ToolError, TurnError } from "../src/index.ts";
import { RawClient } from "./support/raw-client.ts";
import { type ServeOptions, serve } from "./support/serve.ts";
import { callingRunner, recordingTool } from "./support/tools.ts";

const setUp = async (options: ServeOptions) => {
  const served = serve(options);
  return { ...served, threadId: await served.client.createThread() };
};

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
  );

/** How often a turn has ended. */
const terminals = (client: RawClient) => [...client.all("turn.completed"), ...client.all("turn.error")];

describe("one turn at a time", () => {
  it("refuses a second turn with -32002, however close, and takes the next after the end", async () => {
    const { server, client, threadId } = await setUp({
      runner: { run: ({ signal }) => untilAborted(signal) },
    });
    const others = [client, RawClient.connect(server), RawClient.connect(server)];
    const replies = await Promise.all(others.map((from) => from.startTurn(threadId)));
    const started = replies.filter(({ result }) => result);
    expect(started).toHaveLength(1);
    for (const { error } of replies.filter((reply) => reply.error)) {
      expect(error).toMatchObject({ code: -32002, data: { turnId: started[0]?.result.turnId } });
    }
    const elsewhere = await client.startTurn(await client.createThread());
    expect(elsewhere.result.turnId).toEqual(expect.any(String));
    await client.call("turn.cancel", { threadId });
    await client.turnEnd(started[0]?.result.turnId);
    expect((await client.startTurn(threadId)).result.turnId).toEqual(expect.any(String));
  });
});

describe("turn.cancel", () => {
  it("wins over a runner that ends well after it", async () => {
    const { client, threadId } = await setUp({
      runner: { run: ({ signal }) => untilAborted(signal).catch(() => {}) },
    });
    const { result } = await client.startTurn(threadId);
    await client.call("turn.cancel", { threadId });
    expect((await client.turnEnd(result.turnId)).params.status).toBe("cancelled");
  });
});

describe("turn.error", () => {
  it("carries a TurnError's sentence and code", async () => {
    const { client, threadId } = await setUp({
      runner: { run: () => Promise.reject(new TurnError("model_unavailable", "The model is away.")) },
    });
    const { result } = await client.startTurn(threadId);
    const end = await client.turnEnd(result.turnId);
    expect(end.method).toBe("turn.error");
    expect(end.params).toMatchObject({
      threadId,
      error: "The model is away.",
      code: "model_unavailable",
      turn: { status: "error", turnId: result.turnId },
    });
    expect(terminals(client)).toHaveLength(1);
  });

  it.each([
    ["an error", () => Promise.reject(new RangeError("secret at /home/me"))],
    [
      "a thrown string",
      () => {
        throw "secret";
      },
    ],
    ["undefined", () => Promise.reject()],
  ])("says nothing of %s that is not meant for people", async (_name, run) => {
    const { client, threadId, errors } = await setUp({ runner: { run } });
    const end = await client.runTurn(threadId);
    expect(end.params).toMatchObject({ error: "The agent failed.", code: "agent_failed" });
    expect(JSON.stringify(client.received)).not.toContain("secret");
    expect(errors).toHaveLength(1);
  });
});

describe("tools", () => {
  const oneCall = async (options: Omit<ThreadServerOptions, "runner">, input: unknown = { command: "x" }) => {
    const tested = await setUp({ ...options, runner: callingRunner({ tool: "t", input }) });
    await tested.client.runTurn(tested.threadId);
    return tested.client;
  };

  it.each([
    [
      "its own failure",
      new ToolError("tool.failed", "exit 1", { output: { exitCode: 1 } }),
      { status: "failed", error: "exit 1", code: "tool.failed", output: { exitCode: 1 } },
    ],
    [
      "anything else",
      new TypeError("secret"),
      { status: "failed", error: "The tool failed.", code: "tool.failed" },
    ],
  ])("records %s", async (_name, thrown, expected) => {
    const client = await oneCall({ tools: [recordingTool("t", "read", () => Promise.reject(thrown))] });
    expect(client.items("tool_exec")).toMatchObject([expected]);
    expect(JSON.stringify(client.received)).not.toContain("secret");
  });

  it("records a call of an unknown tool, of one outside the profile, and with an unusable input", async () => {
    const unknown = await oneCall({ tools: [] });
    expect(unknown.items("tool_exec")).toMatchObject([
      {
        status: "failed",
        code: "tool.unknown",
        error: 'There is no tool named "t". There are no tools.',
      },
    ]);
    const outside = await oneCall({
      tools: ["t", "other", "one"].map((name) => recordingTool(name, "read")),
      agents: [{ name: "a", systemPrompt: "", tools: ["other", "one"] }],
    });
    expect(outside.items("tool_exec")).toMatchObject([
      { code: "tool.unknown", error: 'There is no tool named "t". There are: other, one.' },
    ]);
    const unusable = await oneCall({ tools: [recordingTool("t", "read")] }, "text");
    expect(unusable.items("tool_exec")).toMatchObject([
      { status: "failed", code: "tool.invalid_input", input: { value: "text" } },
    ]);
  });
});
