// An application of the AI SDK whose tools ask a hub: node ai-app.mjs HUB_SOCKET. Its model is scripted: it calls one tool.
import { createAhpClient } from "@harnesskit/ahp-client";
import { superviseTools } from "@harnesskit/ahp-client/ai-sdk";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import * as z from "zod";

const usage = {
  inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: undefined, reasoning: undefined },
};
const input = { service: "checkout", image: "registry.example/checkout:4.2.0", replicas: 3 };
const name = "production_cluster__rolling_deploy_with_health_checks";
const steps = [
  {
    content: [{ type: "tool-call", toolCallId: "call_1", toolName: name, input: JSON.stringify(input) }],
    finishReason: { unified: "tool-calls" },
  },
  { content: [{ type: "text", text: "checkout 4.2.0 is deployed." }], finishReason: { unified: "stop" } },
];
const model = new MockLanguageModelV3({
  doGenerate: async () => ({ ...steps.shift(), usage, warnings: [] }),
});
const [path] = process.argv.slice(2);
const ahp = createAhpClient({
  transport: createUnixTransport({ path, framing: "newline" }),
  ...{ framework: "ai-sdk", version: "6.0.0", agentId: "deploy-app", sessionId: "release-42" },
});
await ahp.connect();
const deploy = tool({
  description: "deploys a service",
  inputSchema: z.object({ service: z.string(), image: z.string(), replicas: z.number() }),
  execute: async ({ service }) => ({ deployed: service }),
});
const { text } = await generateText({
  ...{ model, prompt: "Deploy checkout 4.2.0.", tools: superviseTools({ [name]: deploy }, ahp) },
  stopWhen: stepCountIs(3),
});
process.stdout.write(`${text}\n`);
await ahp.close();
