import { createReplay } from "@harnesskit/wire/replay";
import { type ModelMessage, streamText } from "ai";
import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { strictProvider } from "../../../test-kit/strict-provider/strict-provider.ts";

/** Any string of UTF-16 units, half of a surrogate pair and nothing at all included. */
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom("", " ", "\n", "\ud83d", "a\ude00b", "x".repeat(300)),
);
const id = fc.oneof(text, fc.constantFrom("call_0", "call_0~2", "functions.bash:0", "call00001", "toolu_1"));
const name = fc.oneof(text, fc.constantFrom("bash", "functions.bash", "1st", "-x", "a b"));
const input = fc.oneof(fc.dictionary(text, fc.oneof(text, fc.integer())), fc.oneof(text, fc.constant([1])));
const options = fc.option(
  fc.dictionary(
    fc.constantFrom("anthropic", "google", "local", "other"),
    fc.dictionary(fc.constantFrom("signature", "thoughtSignature"), fc.constantFrom("sig1", "sig2"), {
      minKeys: 1,
    }),
    { maxKeys: 1 },
  ),
  { nil: undefined },
);
const signed = <T extends object>(part: fc.Arbitrary<T>) =>
  fc
    .tuple(part, options)
    .map(([value, providerOptions]) => (providerOptions ? { ...value, providerOptions } : value));
const said = signed(fc.record({ type: fc.constantFrom("text", "reasoning"), text }));
const call = signed(fc.record({ type: fc.constant("tool-call"), toolCallId: id, toolName: name, input }));
const output = fc.oneof(
  fc.record({ type: fc.constantFrom("text", "error-text"), value: text }),
  fc.record({
    type: fc.constantFrom("json", "error-json"),
    value: fc.oneof(fc.dictionary(text, text), fc.constant(null)),
  }),
  fc.record({ type: fc.constant("execution-denied"), reason: text }),
  fc.record({
    type: fc.constant("content"),
    value: fc.array(fc.record({ type: fc.constant("text"), text }), { maxLength: 2 }),
  }),
);
const result = fc.record({ type: fc.constant("tool-result"), toolCallId: id, toolName: name, output });
const message = fc.oneof(
  fc.record({
    role: fc.constant("user"),
    content: fc.oneof(text, fc.array(fc.record({ type: fc.constant("text"), text }))),
  }),
  fc.record({
    role: fc.constant("assistant"),
    content: fc.oneof(text, fc.array(fc.oneof(said, call), { maxLength: 4 })),
  }),
  fc.record({ role: fc.constant("tool"), content: fc.array(result, { maxLength: 3 }) }),
);
/** A call with its results, as it mostly is. */
const step = fc
  .tuple(fc.array(said, { maxLength: 2 }), fc.array(fc.tuple(call, output), { minLength: 1, maxLength: 3 }))
  .map(([parts, calls]) => [
    { role: "assistant", content: [...parts, ...calls.map(([each]) => each)] },
    {
      role: "tool",
      content: calls.map(([{ toolCallId, toolName }, value]) => ({
        type: "tool-result",
        toolCallId,
        toolName,
        output: value,
      })),
    },
  ]);
const history = fc.array(
  fc.oneof(
    message.map((one) => [one]),
    step,
  ),
  { minLength: 1, maxLength: 6 },
);

const openProvider = () =>
  strictProvider({ says: () => ({ text: "ok" }), knownSignatures: ["sig1", "sig2"] });

/** Sends the conversation to each provider. */
const expectTaken = async (
  provider: Awaited<ReturnType<typeof openProvider>>,
  messages: readonly ModelMessage[],
  maxContextLength: number,
): Promise<void> => {
  const replay = createReplay({ maxContextLength });
  const earlier = provider.refusals.length;
  for (const model of Object.values(provider.models)) {
    const asked = [...messages, { role: "user", content: "go on" } as const];
    const stream = await replay(asked, model, async (shown) =>
      streamText({ model, messages: shown, maxRetries: 0, onError: () => {} }),
    );
    await stream.consumeStream({ onError: () => {} });
    expect(provider.refusals.slice(earlier)).toEqual([]);
  }
  expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain("go on");
};

it("any history is one that OpenAI, Anthropic and Gemini take, in any room", async () => {
  await using provider = await openProvider();
  const maxLengths = fc.constantFrom(200, 1_000, 400_000);
  await fc.assert(
    fc.asyncProperty(history, maxLengths, (pieces, maxContextLength) =>
      expectTaken(provider, pieces.flat() as ModelMessage[], maxContextLength),
    ),
    { numRuns: runs(20) },
  );
});

it("a thought of nothing but space goes back to the provider that signed it", async () => {
  await using provider = await openProvider();
  const providerOptions = { google: { thoughtSignature: "sig1" } };
  const content = [
    { type: "reasoning" as const, text: " ", providerOptions },
    { type: "tool-call" as const, toolCallId: "c1", toolName: "bash", input: {} },
  ];
  await expectTaken(provider, [{ role: "assistant", content }], 400_000);
  expect(JSON.stringify(provider.requests)).toContain(
    '{"text":" ","thought":true,"thoughtSignature":"sig1"}',
  );
});
