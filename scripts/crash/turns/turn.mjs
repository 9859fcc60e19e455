import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { createChatGraph, toChatTools } from "../../../packages/chat-harness/dist/ai-sdk.js";
import { createAiSdkRunner } from "../../../packages/thread-server/dist/ai-sdk.js";

/** How many requests to the model the turn takes. */
export const turnSteps = 10;

const usage = {
  inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: undefined, reasoning: undefined },
};

const answerOf = ({ text, calls }) => [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: text },
  { type: "text-end", id: "t" },
  ...calls,
  {
    type: "finish",
    finishReason: { unified: calls.length === 0 ? "stop" : "tool-calls", raw: undefined },
    usage,
  },
];

/** What the model says in a step. With `isLong` the turn is longer than its context, and has summaries. */
export const textOf = (step, isLong) => `Step ${step}.${isLong ? " word".repeat(300) : ""}`;

const maxContextLength = 8_000;

/** The names of the summaries in a text, in order. */
export const summariesIn = (text) => [...text.matchAll(/Summary ([0-9a-f]{12})\./g)].map(([, name]) => name);

const textIn = ({ content }) =>
  typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");

/** The step that a prompt asks for: the one behind the last that it has. */
const stepOf = (prompt) => {
  const last = prompt.findLast(({ role }) => role === "assistant");
  return last === undefined ? 0 : Number(/^Step (\d+)\./.exec(textIn(last))[1]) + 1;
};

/** A provider in this process. What it is asked is in the ledger before it answers. `atSummary(isBefore)` is called around what it does for a summary. */
const providerOf = ({ ledger, isLong, atSummary }) => ({
  specificationVersion: "v3",
  provider: "fake",
  modelId: "fake",
  supportedUrls: {},
  async doStream({ prompt }) {
    const asked = JSON.stringify(prompt);
    if (asked.includes("You summarise the beginning of a conversation")) {
      atSummary(true);
      const name = createHash("sha256").update(asked).digest("hex").slice(0, 12);
      appendFileSync(ledger, `summary ${name}\n`);
      atSummary(false);
      return { stream: ReadableStream.from(answerOf({ text: `Summary ${name}.`, calls: [] })) };
    }
    const step = stepOf(prompt);
    const steps = prompt.filter(({ role }) => role === "assistant").length;
    const given = steps < step ? (summariesIn(asked)[0] ?? "nothing") : "all";
    appendFileSync(ledger, `asked ${step} ${given}\n`);
    const isLast = step === turnSteps - 1;
    const call = (toolName, name) => ({
      type: "tool-call",
      toolCallId: name,
      toolName,
      input: JSON.stringify({ name: `${name}${step}` }),
    });
    const calls = isLast ? [] : [call("look", "r"), call("act", "a"), call("act", "b")];
    return { stream: ReadableStream.from(answerOf({ text: textOf(step, isLong), calls })) };
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
export const threadOptions = (turn) => ({
  runner: createAiSdkRunner({
    model: providerOf(turn),
    maxRetries: 0,
    ...(turn.isLong && { maxContextLength }),
  }),
  tools: toolsOf(turn.ledger),
  gate: { before: () => ({ verdict: "allow" }) },
  interruptedTurns: "retry",
});

/** The same turn in a chat: no call is asked about. */
export const chatOptions = (turn) => {
  const { ledger, isLong } = turn;
  const tools = toChatTools(toolsOf(ledger));
  for (const tool of Object.values(tools)) tool.needsApproval = false;
  return {
    graph: createChatGraph({
      model: providerOf(turn),
      tools,
      maxRetries: 0,
      onEvent: ({ type, text }) => {
        if (type === "summarised") appendFileSync(ledger, `told ${summariesIn(text)[0]}\n`);
      },
      ...(isLong && { limits: { maxContextLength } }),
    }),
    interruptedTurns: "retry",
  };
};
