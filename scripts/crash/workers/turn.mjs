import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { createAiSdkRunner } from "../../../packages/thread-server/dist/ai-sdk.js";

/** How many requests to the model a turn takes, and how many calls of tools each of them but the last one makes. */
export const turnSteps = 4;
export const callsOfStep = 3;

const usage = {
  inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: undefined, reasoning: undefined },
};

const answerOf = (text, calls = []) => [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: text },
  { type: "text-end", id: "t" },
  ...calls,
  { type: "finish", finishReason: { unified: calls.length === 0 ? "stop" : "tool-calls", raw: "" }, usage },
];

/** The names of the summaries in a text, in order. */
export const summariesIn = (text) => [...text.matchAll(/Summary ([0-9a-f]{12})\./g)].map(([, name]) => name);

const textIn = ({ content }) =>
  typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");

const nameIn = (message) => /thread-\d+$/.exec(textIn(message))?.[0];

/** Which turn a prompt is of, and which step of it comes now: the one behind the last that the prompt has. */
const placeOf = (prompt) => {
  const begin = prompt.findLastIndex((message) => message.role === "user" && nameIn(message) !== undefined);
  const last = prompt.slice(begin + 1).findLast(({ role }) => role === "assistant");
  const step = last === undefined ? 0 : Number(/^Step (\d+)\./.exec(textIn(last))[1]) + 1;
  return { name: nameIn(prompt[begin]), step };
};

const callOf = (toolName, id) => ({
  ...{ type: "tool-call", toolCallId: id, toolName },
  input: JSON.stringify({ name: id }),
});

/** A provider in this process, whose answers soon fill its context. What it is asked is in the ledger before it answers. */
const providerOf = (note, atSummary) => ({
  ...{ specificationVersion: "v3", provider: "fake", modelId: "fake", supportedUrls: {} },
  async doStream({ prompt }) {
    const asked = JSON.stringify(prompt);
    if (asked.includes("You summarise the beginning of a conversation")) {
      atSummary(true);
      const name = createHash("sha256").update(asked).digest("hex").slice(0, 12);
      note("summary", name);
      atSummary(false);
      return { stream: ReadableStream.from(answerOf(`Summary ${name}.`)) };
    }
    const { name, step } = placeOf(prompt);
    note("asked", name, step, summariesIn(asked)[0] ?? "nothing");
    const id = (call) => `${call}-${name}-${step}`;
    const calls = [callOf("look", id("r")), callOf("act", id("a")), callOf("act", id("b"))];
    const text = `Step ${step}.${" word".repeat(300)}`;
    return { stream: ReadableStream.from(answerOf(text, step === turnSteps - 1 ? [] : calls)) };
  },
});

/**
 * The options of a thread server whose turns take {@link turnSteps} requests, with calls between them, and summaries. The ledger gets a
 * line for each request and each effect, with the id of this process; `atSummary(isBefore)` is called around the making of a summary.
 */
export const threadOptions = (ledger, atSummary) => {
  const note = (...words) => appendFileSync(ledger, `${[process.pid, ...words].join(" ")}\n`);
  const tool = (name, effects) => ({
    ...{ name, effects, description: `The ${name} tool.` },
    input: { type: "object", properties: { name: { type: "string" } } },
    run: (input) => {
      note(name, input.name);
      return "done";
    },
  });
  const model = providerOf(note, atSummary);
  return {
    runner: createAiSdkRunner({ model, maxRetries: 0, maxContextLength: 8_000 }),
    tools: [tool("look", "read"), tool("act", "execute")],
    gate: { before: () => ({ verdict: "allow" }) },
    interruptedTurns: "retry",
  };
};
