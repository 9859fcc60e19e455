import { join } from "node:path";
import type { LanguageModel } from "ai";
import { describe, expect, it } from "vitest";
import { type Said, strictProvider } from "../../../test-kit/strict-provider/strict-provider.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { createAiSdkRunner } from "../src/ai-sdk/index.ts";
import { createThreadServer, type ThreadServerOptions } from "../src/index.ts";
import { createFileThreadStore } from "../src/node/index.ts";
import { RawClient } from "./support/raw-client.ts";
import { recordingTool } from "./support/tools.ts";

const apis = ["openai", "anthropic", "gemini"] as const;

const open = async (models: () => LanguageModel, options: Partial<ThreadServerOptions> = {}) => {
  const runner = createAiSdkRunner({ model: models, maxRetries: 0 });
  const server = createThreadServer({ runner, ...options });
  const client = RawClient.connect(server);
  const threadId = await client.createThread();
  const turn = async (prompt: string) => {
    const { result } = await client.startTurn(threadId, prompt);
    return (await client.turnEnd(result.turnId)).params;
  };
  return { client, server, threadId, turn };
};

describe("what is replayed to a model", () => {
  it.each(apis)("is valid for %s after bad output of another model", async (api) => {
    const badly: Said[] = [
      {
        text: "half \ud83d",
        calls: [
          { id: "functions.bash:0", name: "functions.bash", input: { command: "echo \ud83d" } },
          { id: "functions.bash:0", name: "read", input: {} },
          { id: "", name: "x".repeat(100), input: "[1]" },
        ],
      },
      { text: " ", calls: [{ id: "functions.bash:0", name: "read", input: {} }] },
      { text: "Done." },
    ];
    await using provider = await strictProvider({ says: (_, index) => badly[index] ?? { text: "fine" } });
    let model: LanguageModel = provider.models.openai;
    const empty = recordingTool("read", "read", async () => "");
    const { client, turn } = await open(() => model, { tools: [empty] });
    expect((await turn("first")).status).toBe("completed");
    model = provider.models[api];
    expect((await turn("second \ud83d")).status).toBe("completed");
    expect((await turn("third")).status).toBe("completed");
    expect(provider.refusals).toEqual([]);
    const first = client.items("tool_exec").find(({ step, index }) => step === 0 && index === 0);
    expect(first).toMatchObject({ tool: "functions.bash", callId: "functions.bash:0" });
  });

  it.each([
    ["anthropic", "in the next request"],
    ["gemini", "in the next request"],
    ["anthropic", "after a restart"],
    ["gemini", "after a restart"],
  ] as const)("has the signatures of %s: %s", async (api, when) => {
    await using directory = await temporaryDirectory();
    const store = createFileThreadStore({ root: join(directory.path, "threads") });
    const thinks: Said = {
      thinking: "Hm.",
      signature: "c2lnbmF0dXJl",
      calls: [{ id: "toolu_1", name: "act", input: {} }],
    };
    await using provider = await strictProvider({
      says: (_, index) => (index === 0 ? thinks : { text: "ok" }),
    });
    const model = () => provider.models[api];
    const options = { store, tools: [recordingTool("act", "execute")] };
    const { client, server, threadId } = await open(model, options);
    const { result } = await client.startTurn(threadId, "go");
    const { params } = await client.notification("approval.requested");
    let answering = client;
    let running = server;
    if (when === "after a restart") {
      await server.close();
      running = createThreadServer({ ...options, runner: createAiSdkRunner({ model, maxRetries: 0 }) });
      answering = RawClient.connect(running);
      await answering.call("thread.get", { threadId });
    }
    await answering.call("approval.respond", { requestId: params.requestId, decision: "once" });
    expect((await answering.turnEnd(result.turnId)).params.status).toBe("completed");
    const next = await answering.startTurn(threadId, "and then?");
    expect((await answering.turnEnd(next.result.turnId)).params.status).toBe("completed");
    expect(provider.refusals).toEqual([]);
    expect(provider.requests).toHaveLength(3);
    for (const { body } of provider.requests.slice(1)) expect(JSON.stringify(body)).toContain("c2lnbmF0dXJl");
    await running.close();
  });
});
