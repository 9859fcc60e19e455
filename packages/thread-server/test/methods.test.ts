import { describe, expect, it } from "vitest";
import { createFileThreadStore } from "../src/node/index.ts";
import type { TurnRequest } from "../src/turn-runner.ts";
import { RawClient } from "./support/raw-client.ts";
import { openServer, ownDirectory } from "./support/serve.ts";
import { sayingRunner } from "./support/tools.ts";

const start = (options: Partial<Parameters<typeof openServer>[0]> = {}) => {
  const server = openServer({ runner: sayingRunner("hello"), ...options });
  return { server, client: RawClient.connect(server) };
};

describe("initialize", () => {
  it("tells of persistence what the store keeps", async () => {
    const dir = await ownDirectory();
    const { client } = start({ store: createFileThreadStore({ root: dir }) });
    expect((await client.call("initialize")).result.capabilities.persistence).toBe(true);
  });
});

describe("threads", () => {
  it("have no directory where the server has none", async () => {
    const { client } = start();
    expect((await client.call("thread.create")).result.thread.directory).toBe("");
    expect((await client.call("thread.create", { directory: "/" })).error?.code).toBe(-32602);
  });
});

describe("turns", () => {
  it("hands model, agent and input to the runner", async () => {
    const seen: TurnRequest[] = [];
    const { client } = start({
      agents: [
        { name: "code", systemPrompt: "c" },
        { name: "ask", systemPrompt: "a" },
      ],
      runner: {
        async run({ input, agent, model }) {
          seen.push(model ? { input, agent, model } : { input, agent });
        },
      },
    });
    const threadId = await client.createThread();
    const model = { providerID: "anthropic", modelID: "m" };
    const input = [
      { type: "text", text: "x" },
      { type: "file", path: "a.txt", mimeType: "text/plain" },
      { type: "file", uri: "file:///b" },
    ];
    const first = await client.call("turn.start", { threadId, input, model, agent: "ask" });
    await client.turnEnd(first.result.turnId);
    await client.runTurn(threadId, "y");
    expect(client.items("user_message")[0]).toMatchObject({ content: input });
    expect(seen).toEqual([
      { input, model, agent: { name: "ask", systemPrompt: "a" } },
      { input: [{ type: "text", text: "y" }], agent: { name: "code", systemPrompt: "c" } },
    ]);
  });

  it("records artifacts", async () => {
    const artifact = { kind: "report", path: "out.txt", mimeType: "text/plain", sizeBytes: 3 };
    const { client } = start({ runner: { run: (turn) => turn.artifact(artifact) } });
    await client.runTurn();
    expect(client.items("artifact")).toEqual([artifact]);
  });
});
