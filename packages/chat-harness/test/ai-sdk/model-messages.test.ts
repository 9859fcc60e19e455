import { fromModelMessages, toModelMessages } from "@harnesskit/chat-harness/ai-sdk";
import type { ChatMessage } from "@harnesskit/protocol/chat";
import { ChatMessageSchema } from "@harnesskit/protocol/chat";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../scripts/lib/nightly.ts";

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
const detail = fc.option(fc.constantFrom("auto" as const, "low" as const, "high" as const), {
  nil: undefined,
});
const image = fc
  .tuple(
    fc.oneof(
      fc.webUrl().map((url) => ({ source: { type: "url" as const, url } })),
      fc.constant({
        source: { type: "url" as const, url: "data:image/png;base64,AAAA" },
        media_type: "image/png",
      }),
      fc.base64String({ minLength: 4, maxLength: 12 }).map((data) => ({
        source: { type: "inline" as const, base64_data: data },
        media_type: "image/webp",
      })),
    ),
    detail,
  )
  .map(([own, shown]) => ({
    type: "image" as const,
    ...own,
    ...(shown === undefined ? {} : { detail: shown }),
  }));
const args = fc.dictionary(
  fc.string({ maxLength: 4 }).filter((key) => key !== "__proto__"),
  fc.jsonValue({ maxDepth: 2 }),
) as fc.Arbitrary<Record<string, never>>;

/** Blocks of which there is not just one text without a signature: that one is written as a text. */
const blocks = <T extends { readonly type: string }>(block: fc.Arbitrary<T>) =>
  fc
    .array(block, { minLength: 1, maxLength: 4 })
    .filter(([first, ...others]) => others.length > 0 || first?.type !== "text" || "signature" in first);

const system = text.map((content): ChatMessage => ({ role: "system", content }));
const user = fc
  .oneof(text, blocks(fc.oneof(textBlock, image)))
  .map((content) => ({ role: "user", content }) as ChatMessage);
const said = fc.oneof(text, blocks(fc.oneof(textBlock, thinking, redacted)));

/** A step of the assistant, and the results of its calls in order. */
const step = fc
  .tuple(
    fc.option(said, { nil: undefined }),
    fc.array(fc.tuple(text, args, text, fc.option(signature, { nil: undefined })), { maxLength: 3 }),
  )
  .filter(([content, calls]) => content !== undefined || calls.length > 0)
  .map(([content, calls]) => ({ content, calls }));

/** A conversation in the order in which it happened, without a pause: ids are numbered. */
const conversation = fc
  .tuple(
    fc.option(system, { nil: undefined }),
    fc.array(fc.tuple(user, fc.array(step, { maxLength: 3 })), { minLength: 1, maxLength: 4 }),
  )
  .map(([first, turns]): ChatMessage[] => {
    let id = 0;
    const messages: ChatMessage[] = first === undefined ? [] : [first];
    for (const [asked, steps] of turns) {
      messages.push(asked);
      for (const { content, calls } of steps) {
        const named = calls.map(([name, input, result, own]) => ({
          id: `c${id++}`,
          name,
          input,
          result,
          own,
        }));
        messages.push({
          role: "assistant",
          ...(content === undefined ? {} : { content }),
          ...(named.length === 0
            ? {}
            : {
                tool_calls: named.map(({ id, name, input, own }) => ({
                  id,
                  name,
                  arguments: input,
                  ...(own === undefined ? {} : { signature: own }),
                })),
              }),
        } as ChatMessage);
        for (const { id, result } of named)
          messages.push({ role: "tool", content: result, tool_call_id: id });
      }
    }
    return messages;
  });

describe("messages for the model and back", () => {
  it("loses nothing", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        for (const message of messages) expect(ChatMessageSchema.safeParse(message).error).toBeUndefined();
        const back = fromModelMessages(toModelMessages(messages));
        expect(back).toEqual(messages);
        expect(JSON.stringify(toModelMessages(back))).toBe(JSON.stringify(toModelMessages(messages)));
      }),
      { numRuns: runs(20) },
    );
  });

  it("gives a signature to the provider that made it, and the bare text as Anthropic's", () => {
    const messages: ChatMessage[] = [
      { role: "user", content: "Think." },
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "Hm.", signature: "c2ln" },
          { type: "thinking", text: "Hm hm.", signature: '{"google":{"thoughtSignature":"Zw=="}}' },
          { type: "redacted_thinking", data: "aGlkZGVu" },
          { type: "text", text: "Yes." },
        ],
      },
    ];
    expect(toModelMessages(messages)[1]).toEqual({
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hm.", providerOptions: { anthropic: { signature: "c2ln" } } },
        { type: "reasoning", text: "Hm hm.", providerOptions: { google: { thoughtSignature: "Zw==" } } },
        { type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: "aGlkZGVu" } } },
        { type: "text", text: "Yes." },
      ],
    });
  });

  it("keeps what a provider put beside a part without text", () => {
    const providerOptions = { anthropic: { signature: "c2ln" } };
    const model = [
      { role: "assistant" as const, content: [{ type: "reasoning" as const, text: "", providerOptions }] },
    ];
    const messages = fromModelMessages(model);
    expect(messages).toEqual([
      {
        role: "assistant",
        content: [{ type: "redacted_thinking", data: '{"anthropic":{"signature":"c2ln"}}' }],
      },
    ]);
    expect(toModelMessages(messages)).toEqual(model);
  });

  it("refuses a file, and an image whose bytes are an address", () => {
    const refused = expect.objectContaining({ name: "ChatModelError", code: "provider_invalid_request" });
    const file = { type: "file" as const, data: "AAAA", mediaType: "application/pdf" };
    expect(() => fromModelMessages([{ role: "user", content: [file] }])).toThrow(refused);
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
