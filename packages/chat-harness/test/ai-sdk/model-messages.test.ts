import type { ChatMessage } from "@harnesskit/protocol/chat";
import type { TextPart } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../test-kit/nightly.ts";
import { piecesToAnswer } from "../../src/ai-sdk/arrange-history.ts";
import { fromAssistantPart, toAssistantPart } from "../../src/ai-sdk/blocks.ts";
import { toPromptPieces } from "../../src/ai-sdk/to-model-messages.ts";

const text = fc.string({ minLength: 1, maxLength: 20 });
const signature = fc.oneof(
  fc.string({ maxLength: 12 }),
  // Texts that look like metadata that is spelled out.
  fc
    .dictionary(
      fc.constantFrom("anthropic", "google"),
      fc.dictionary(fc.constantFrom("signature", "redactedData", "x"), text),
      { minKeys: 1 },
    )
    .map((value) => JSON.stringify(value)),
  fc
    .string({ maxLength: 5 })
    .map((inner) =>
      JSON.stringify({ anthropic: { signature: JSON.stringify({ anthropic: { signature: inner } }) } }),
    ),
);
const signed = <T extends object>(block: fc.Arbitrary<T>) =>
  fc
    .tuple(block, fc.option(signature, { nil: undefined }))
    .map(([value, own]) => (own === undefined ? value : { ...value, signature: own }));
const textBlock = signed(text.map((value) => ({ type: "text" as const, text: value })));
const thinking = signed(text.map((value) => ({ type: "thinking" as const, text: value })));
const redacted = signature.map((data) => ({ type: "redacted_thinking" as const, data }));

const toModelMessages = (messages: readonly ChatMessage[]) => toPromptPieces(piecesToAnswer(messages)).flat();

describe("messages for the model and back", () => {
  it("loses nothing of what the assistant said", () => {
    fc.assert(
      fc.property(fc.oneof(textBlock, thinking, redacted), (block) => {
        expect(fromAssistantPart(toAssistantPart(block) as TextPart)).toEqual(block);
      }),
      { numRuns: runs(100) },
    );
  });

  it("keeps what a provider put beside a part without text", () => {
    const part = {
      type: "reasoning",
      text: "",
      providerOptions: { anthropic: { signature: "c2ln" } },
    } as const;
    const block = fromAssistantPart(part);
    expect(block).toEqual({ type: "redacted_thinking", data: '{"anthropic":{"signature":"c2ln"}}' });
    expect(block && toAssistantPart(block)).toEqual(part);
  });

  it("refuses an image whose bytes are an address", () => {
    const refused = expect.objectContaining({ name: "ChatModelError", code: "provider_invalid_request" });
    const hidden = { type: "inline" as const, base64_data: "http://169.254.169.254/latest" };
    const block = { type: "image" as const, source: hidden, media_type: "image/png" };
    expect(() => toModelMessages([{ role: "user", content: [block] }])).toThrow(refused);
    const broken = { type: "image" as const, source: { type: "url" as const, url: "not an address" } };
    expect(() => toModelMessages([{ role: "user", content: [broken] }])).toThrow(refused);
  });
});

const call = (id: string, name = "act") => ({ id, name, arguments: {} });
const asks = (...ids: string[]): ChatMessage => ({
  role: "assistant",
  tool_calls: ids.map((id) => call(id)),
});
const result = (id: string, content = `${id} done`): ChatMessage => ({
  role: "tool",
  content,
  tool_call_id: id,
});
const asked = (content: string): ChatMessage => ({ role: "user", content });
const answers = (content: string): ChatMessage => ({ role: "assistant", content });

/** The order of a conversation as the model gets it, in short. */
const shown = (messages: readonly ChatMessage[]) =>
  toModelMessages(messages).map(({ role, content }) => {
    if (typeof content === "string") return `${role}: ${content}`;
    return `${role}: ${content
      .map((part) => {
        if (part.type === "tool-call") return `call ${part.toolCallId}`;
        if (part.type !== "tool-result") return part.type;
        const { output } = part;
        return `${part.toolCallId}=${"value" in output ? (String(output.value).match(/waiting_for_approval|.* done/)?.[0] ?? "") : output.type}`;
      })
      .join(" ")}`;
  });

describe("a conversation with a pause, as it is stored and as a model gets it", () => {
  const paused = [asked("send it"), asks("a")];
  const meanwhile = [...paused, asked("what now?")];

  it("puts the resumed tail behind its call, and asks for it without what was said meanwhile", () => {
    const resumed = [...meanwhile, answers("It waits."), result("a")];
    expect(shown(resumed)).toEqual(["user: send it", "assistant: call a", "tool: a=a done"]);
    expect(shown([...resumed, answers("Sent."), asked("Thanks.")])).toEqual([
      "user: send it",
      "assistant: call a",
      "tool: a=a done",
      "assistant: Sent.",
      "user: what now?",
      "assistant: It waits.",
      "user: Thanks.",
    ]);
  });

  it("follows a turn through several pauses, with other turns between", () => {
    const stored = [
      asked("one"),
      asks("a", "b"),
      asked("two"),
      asks("x"),
      result("a"),
      asked("three"),
      answers("3"),
      result("x"),
      answers("2"),
      result("b"),
      asks("c"),
      asked("four"),
      answers("4"),
      result("c"),
      answers("1"),
      asked("five"),
    ];
    expect(shown(stored)).toEqual([
      "user: one",
      "assistant: call a call b",
      "tool: a=a done b=b done",
      "assistant: call c",
      "tool: c=c done",
      "assistant: 1",
      "user: two",
      "assistant: call x",
      "tool: x=x done",
      "assistant: 2",
      "user: three",
      "assistant: 3",
      "user: four",
      "assistant: 4",
      "user: five",
    ]);
  });

  it("takes the first of two results, and refuses one of no call", () => {
    expect(shown([...paused, result("a"), result("a", "again done")]).at(-1)).toBe("tool: a=a done");
    expect(() => toModelMessages([...paused, result("b")])).toThrow(
      expect.objectContaining({ name: "ChatModelError", code: "provider_invalid_request" }),
    );
  });

  it("tells calls with one id apart by their order", () => {
    const stored = [
      asked("one"),
      asks("a"),
      result("a", "first done"),
      asked("two"),
      asks("a"),
      result("a", "second done"),
    ];
    expect(shown(stored)).toEqual([
      "user: one",
      "assistant: call a",
      "tool: a=first done",
      "user: two",
      "assistant: call a",
      "tool: a=second done",
    ]);
  });

  it("always gives every call a result before anything else is said", () => {
    const moves = fc.array(fc.tuple(fc.constantFrom("turn", "resume"), fc.nat(), fc.nat(2)), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(moves, (list) => {
        const stored: ChatMessage[] = [];
        const waiting: string[] = [];
        let id = 0;
        for (const [move, pick, calls] of list) {
          if (move === "resume" && waiting.length > 0) {
            const [one] = waiting.splice(pick % waiting.length, 1);
            stored.push(result(one as string), answers(`after ${one}`));
          } else {
            const ids = Array.from({ length: calls + 1 }, () => `c${id++}`);
            stored.push(asked(`turn ${id}`), asks(...ids));
            waiting.push(...ids);
          }
          stored.push(asked("next"));
          const model = toModelMessages(stored);
          const open = new Set<string>();
          let callCount = 0;
          for (const message of model) {
            if (message.role !== "tool") expect(open.size).toBe(0);
            if (typeof message.content === "string") continue;
            for (const part of message.content) {
              if (part.type === "tool-call") callCount += open.add(part.toolCallId).size > 0 ? 1 : 0;
              if (part.type === "tool-result") expect(open.delete(part.toolCallId)).toBe(true);
            }
          }
          expect(open.size).toBe(0);
          expect(callCount).toBe(id);
        }
      }),
      { numRuns: runs(20) },
    );
  });
});
