/** A model of the AI SDK that says hello in five pieces, as fast as it can. */
const usage = {
  inputTokens: { total: 20, noCache: 20, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 10, text: 10, reasoning: undefined },
};

const parts = [
  { type: "stream-start", warnings: [] },
  { type: "response-metadata", id: "answer", modelId: "hello" },
  { type: "text-start", id: "0" },
  ...["Hello! ", "I work in this ", "directory with ", "the tools ", "I am given."].map((delta) => ({
    type: "text-delta",
    id: "0",
    delta,
  })),
  { type: "text-end", id: "0" },
  { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage },
];

export const model = {
  specificationVersion: "v3",
  provider: "bench",
  modelId: "hello",
  supportedUrls: {},
  doGenerate: () => Promise.reject(new RangeError("this model streams only")),
  doStream: async () => ({ stream: ReadableStream.from(parts) }),
};
