import { appendFileSync } from "node:fs";
import { createChatGraph, toChatTools } from "../../../packages/chat-harness/dist/ai-sdk.js";
import { createAiSdkRunner } from "../../../packages/thread-server/dist/ai-sdk.js";

/** How many requests to the model the turn takes. */
export const turnSteps = 10;

const usage = {
  inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: undefined, reasoning: undefined },
};

const toStream = (parts) =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });

/** A provider in this process. What it is asked is in the ledger before it answers. */
const providerOf = (ledger) => ({
  specificationVersion: "v3",
  provider: "fake",
  modelId: "fake",
  supportedUrls: {},
  async doStream({ prompt }) {
    const step = prompt.filter(({ role }) => role === "assistant").length;
    appendFileSync(ledger, `asked ${step}\n`);
    const isLast = step === turnSteps - 1;
    const call = (toolName, name) => ({
      type: "tool-call",
      toolCallId: name,
      toolName,
      input: JSON.stringify({ name: `${name}${step}` }),
    });
    const calls = isLast ? [] : [call("look", "r"), call("act", "a"), call("act", "b")];
    const text = [
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: `Step ${step}.` },
      { type: "text-end", id: "t" },
    ];
    const finishReason = { unified: isLast ? "stop" : "tool-calls", raw: undefined };
    const stream = toStream([
      { type: "stream-start", warnings: [] },
      ...text,
      ...calls,
      { type: "finish", finishReason, usage },
    ]);
    return { stream };
  },
});

/** The tools of the turn. */
const toolsOf = (ledger) => {
  const tool = (name, effects) => ({
    name,
    effects,
    description: `The ${name} tool.`,
    input: { type: "object", properties: { name: { type: "string" } } },
    run: (input) => {
      appendFileSync(ledger, `${name} ${input.name}\n`);
      return "done";
    },
  });
  return [tool("look", "read"), tool("act", "execute")];
};

/** The options of a thread server whose turn makes ten requests, and calls between them whose effects are in the ledger. */
export const threadOptions = (ledger) => ({
  runner: createAiSdkRunner({ model: providerOf(ledger), maxRetries: 0 }),
  tools: toolsOf(ledger),
  gate: { before: () => ({ verdict: "allow" }) },
  interruptedTurns: "retry",
});

/** The same turn in a chat: no call is asked about. */
export const chatOptions = (ledger) => {
  const tools = toChatTools(toolsOf(ledger));
  for (const tool of Object.values(tools)) tool.needsApproval = false;
  return {
    graph: createChatGraph({ model: providerOf(ledger), tools, maxRetries: 0 }),
    interruptedTurns: "retry",
  };
};
