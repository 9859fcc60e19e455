// @ts-check

const usage = {
  inputTokens: { total: 0, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 0, text: undefined, reasoning: undefined },
};

/** @typedef {import("@ai-sdk/provider").LanguageModelV3StreamPart} Part */

/** @returns {Part[]} */
const say = (/** @type {string} */ delta) => [
  { type: "text-start", id: "text" },
  { type: "text-delta", id: "text", delta },
  { type: "text-end", id: "text" },
  { type: "finish", finishReason: { unified: "stop", raw: undefined }, usage },
];

/** @returns {Part[]} */
const callTool = (/** @type {string} */ toolName, /** @type {object} */ input) => [
  { type: "tool-call", toolCallId: crypto.randomUUID(), toolName, input: JSON.stringify(input) },
  { type: "finish", finishReason: { unified: "tool-calls", raw: undefined }, usage },
];

/** @returns {Part[]} */
const answer = (/** @type {import("@ai-sdk/provider").LanguageModelV3Prompt} */ prompt) => {
  const last = prompt.at(-1);
  if (last?.role === "tool")
    return say(JSON.stringify(last.content.map((part) => "output" in part && part.output)));
  const text =
    last?.role === "user" ? last.content.map((part) => ("text" in part ? part.text : "")).join("") : "";
  const [, verb, name] = /^(greet|sign) (.+)$/.exec(text) ?? [];
  return verb === undefined
    ? say("I know: greet NAME, sign NAME.")
    : callTool(`com_example_hello__${verb}`, { name });
};

/**
 * A model without a provider, so that the example runs without a key: it calls one tool and repeats what came of it.
 *
 * @returns {import("@ai-sdk/provider").LanguageModelV3}
 */
export const createScriptedModel = () => ({
  specificationVersion: "v3",
  provider: "example",
  modelId: "scripted",
  supportedUrls: {},
  async doStream({ prompt }) {
    return { stream: ReadableStream.from(answer(prompt)) };
  },
  doGenerate() {
    throw new TypeError("the runner streams");
  },
});
