import { jsonSchema, stepCountIs, streamText, tool } from "ai";
import { expect, it } from "vitest";
import { createModel } from "../src/index.ts";
import { openAiAnswer, startStub } from "./http-stub.ts";

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "stub",
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

const stream = (deltas: readonly object[]) => ({
  headers: { "content-type": "text/event-stream" },
  body: [
    ...deltas.map((delta) => chunk({ tool_calls: [delta] })),
    chunk({}, "tool_calls"),
    "data: [DONE]\n\n",
  ].join(""),
});

/** Two requests to a model whose first answer has these deltas of calls: what ran, and what the model was told. */
const run = async (deltas: readonly object[]) => {
  await using stub = await startStub((_, index) =>
    index === 0 ? stream(deltas) : openAiAnswer({ text: "I see." }),
  );
  const inputs: unknown[] = [];
  const errors: unknown[] = [];
  const read = tool({
    inputSchema: jsonSchema<{ path: string }>({ type: "object", properties: { path: { type: "string" } } }),
    execute: async (input) => {
      inputs.push(input);
      return "hello";
    },
  });
  const result = streamText({
    model: await createModel(`openai-compatible:${stub.url}/v1#stub-model`, { env: {} }),
    prompt: "Read a.md",
    maxRetries: 0,
    tools: { read },
    stopWhen: stepCountIs(3),
    onError: ({ error }) => void errors.push(error),
  });
  await result.consumeStream();
  const messages = stub.requests[1]?.body.messages as { role: string; content: string }[] | undefined;
  const told = messages?.filter(({ role }) => role === "tool").map(({ content }) => content);
  return { inputs, errors, told };
};

const start = (name: string | null | undefined, given = {}) => ({
  index: 0,
  id: "call_1",
  type: "function",
  function: { name, arguments: "", ...given },
});
const rest = { index: 0, function: { arguments: '{"path":"a.md"}' } };

it.each([
  ["empty", ""],
  ["blank", " "],
  ["null", null],
  ["missing", undefined],
])("makes a failed call, which the model hears of, of one whose name is %s", async (_, name) => {
  const { inputs, errors, told } = await run([start(name), rest]);
  expect(inputs).toEqual([]);
  expect(told).toEqual([expect.stringContaining("unavailable tool 'unnamed_tool'. Available tools: read")]);
  expect(errors).toEqual([]);
});

it("takes a name that comes after the call has begun, and the calls beside one without a name", async () => {
  const late = await run([start("", { arguments: '{"path":' }), start("read", { arguments: '"a.md"}' })]);
  expect(late).toMatchObject({ inputs: [{ path: "a.md" }], told: ["hello"], errors: [] });
  const second = { ...rest, index: 1, id: "call_2", function: { ...rest.function, name: "read" } };
  const beside = await run([start(""), rest, second]);
  expect(beside.inputs).toEqual([{ path: "a.md" }]);
  expect(beside.told).toHaveLength(2);
});
