import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createAiSdkRunner } from "../src/ai-sdk/index.ts";
import { type ThreadFailureContext, TurnError, type TurnRunner } from "../src/index.ts";
import { scripted } from "./support/scripted-model.ts";
import { serve } from "./support/serve.ts";
import { callingRunner, recordingTool } from "./support/tools.ts";

const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9 by sk-secret-0123456789"), {
  code: "ECONNREFUSED",
});
const unreachable = createAiSdkRunner({
  model: scripted(() => {
    throw refused;
  }).model,
  maxRetries: 0,
});
const broken: TurnRunner = { run: () => Promise.reject(new TypeError("my bug")) };
const calling = callingRunner({ tool: "pay", input: {} });
const pay = recordingTool("pay", "read", () => Promise.reject(new TypeError("orders is undefined")));

describe("what reaches no client", () => {
  it.each([
    ["of the runner", broken, new TypeError("my bug"), undefined],
    ["of a tool", calling, new TypeError("orders is undefined"), "pay"],
    [
      "of a model",
      unreachable,
      expect.objectContaining({ code: "model_unavailable", cause: refused }),
      undefined,
    ],
  ])("goes to onError with its place: a failure %s", async (_name, runner, error, tool) => {
    const reports: [unknown, ThreadFailureContext][] = [];
    const { client } = serve({ runner, tools: [pay], onError: (...report) => void reports.push(report) });
    const threadId = await client.createThread();
    const { result } = await client.startTurn(threadId);
    await client.turnEnd(result.turnId);
    expect(reports).toEqual([[error, { threadId, turnId: result.turnId, tool }]]);
  });

  it("is a warning of the process without onError, one for each failure, and none for what a client knows or sends", async () => {
    const warnings: string[] = [];
    const onWarning = ({ name, message }: Error) => warnings.push(`${name}: ${message}`);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    const known: TurnRunner = {
      run: () => Promise.reject(new TurnError("no_seats", "All seats are taken.")),
    };
    const threadIds: string[] = [];
    for (const runner of [known, broken, calling, unreachable]) {
      const { client } = serve({ runner, tools: [pay], onError: undefined });
      const threadId = await client.createThread();
      await client.channel.send({ jsonrpc: "2.0", nonsense: true });
      await client.until(({ error }) => error?.code === -32600);
      await client.runTurn(threadId);
      threadIds.push(threadId);
    }
    const [, ofRunner, ofTool, ofModel] = threadIds.map((threadId) => `thread ${threadId}: `);
    await vi.waitFor(() => expect(warnings.length).toBeGreaterThan(2));
    expect(warnings).toEqual([
      `ThreadServerWarning: unexpected_error: ${ofRunner}TypeError: my bug`,
      `ThreadServerWarning: unexpected_error: ${ofTool}tool pay: TypeError: orders is undefined`,
      expect.stringMatching(
        `^ThreadServerWarning: model_unavailable: ${ofModel}.*connect ECONNREFUSED 127.0.0.1:9 by \\[redacted\\]`,
      ),
    ]);
  });
});
