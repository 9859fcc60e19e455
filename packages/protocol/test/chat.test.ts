import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { ErrorBucketSchema } from "../src/chat/chat-turn-outcome.ts";
import { ContentBlockSchema } from "../src/chat/content-block.ts";
import { ChatMessageSchema, chatMessageProblem, errorBucketOf, errorBuckets } from "../src/chat/index.ts";

const text = { type: "text", text: "Hello" };
const image = { type: "image", source: { type: "url", url: "https://x/y.png" } };
const inline = { type: "image", source: { type: "inline", base64_data: "AA==" }, media_type: "image/png" };
const thinking = { type: "thinking", text: "Hm" };
const redacted = { type: "redacted_thinking", data: "blob" };
const call = { id: "c1", name: "search", arguments: {} };
const user = (...content: unknown[]) => ({ role: "user", content });
const assistant = (...content: unknown[]) => ({ role: "assistant", content });
const calling = (...tool_calls: unknown[]) => ({ role: "assistant", tool_calls });
const said = (role: string, fields: object) => ({ role, content: "x", ...fields });

/** What is refused: the requirement, the message, and where in it the problem is. */
const refused: [id: string, what: string, message: unknown, place: string][] = [
  ["CHAT-1", "no object", "Hello", ""],
  ["CHAT-1", "null", null, ""],
  ["CHAT-1", "a list", [], ""],
  ["CHAT-1", "no role", { content: "x" }, ".role"],
  ["CHAT-1", "an unknown role", { role: "developer", content: "x" }, ".role"],
  ["CHAT-1", "a role in capitals", { role: "User", content: "x" }, ".role"],
  ["CHAT-2", "a system message without content", { role: "system" }, ".content"],
  ["CHAT-2", "an empty system message", { role: "system", content: "" }, ".content"],
  ["CHAT-2", "a system message of blocks", { role: "system", content: [text] }, ".content"],
  ["CHAT-3", "a user message without content", { role: "user" }, ".content"],
  ["CHAT-3", "an empty user message", { role: "user", content: "" }, ".content"],
  ["CHAT-3", "a user message of no blocks", user(), ".content"],
  ["CHAT-3", "thinking of the user", user(thinking), ".content[0]"],
  ["CHAT-3", "redacted thinking of the user", user(redacted), ".content[0]"],
  ["CHAT-3", "a number as content", { role: "user", content: 1 }, ".content"],
  ["CHAT-4", "an assistant message without content", { role: "assistant" }, ".content"],
  ["CHAT-4", "an empty assistant message", { role: "assistant", content: "" }, ".content"],
  ["CHAT-4", "an assistant message of no blocks", assistant(), ".content"],
  ["CHAT-4", "no content and no calls", { role: "assistant", tool_calls: [] }, ".content"],
  ["CHAT-6", "an image of the assistant", assistant(text, image), ".content[1]"],
  ["CHAT-6", "an image beside calls", { ...assistant(image), tool_calls: [call] }, ".content[0]"],
  ["CHAT-7", "a tool message without content", { role: "tool", tool_call_id: "c" }, ".content"],
  ["CHAT-7", "a tool message of blocks", { role: "tool", content: [text], tool_call_id: "c" }, ".content"],
  ["CHAT-8", "calls of the system", said("system", { tool_calls: [call] }), ".tool_calls"],
  ["CHAT-8", "calls of the user", said("user", { tool_calls: [] }), ".tool_calls"],
  ["CHAT-8", "calls of a tool", said("tool", { tool_call_id: "c", tool_calls: null }), ".tool_calls"],
  ["CHAT-9", "a call id of the system", said("system", { tool_call_id: "c" }), ".tool_call_id"],
  ["CHAT-9", "a call id of the user", said("user", { tool_call_id: "c" }), ".tool_call_id"],
  ["CHAT-9", "a call id of the assistant", said("assistant", { tool_call_id: "" }), ".tool_call_id"],
  ["CHAT-10", "a tool message without a call id", { role: "tool", content: "x" }, ".tool_call_id"],
  ["CHAT-10", "an empty call id", { role: "tool", content: "x", tool_call_id: "" }, ".tool_call_id"],
  ["CHAT-12", "a call without an id", calling({ ...call, id: undefined }), ".tool_calls[0].id"],
  ["CHAT-12", "a call with an empty id", calling({ ...call, id: "" }), ".tool_calls[0].id"],
  ["CHAT-12", "a call with an empty name", calling({ ...call, name: "" }), ".tool_calls[0].name"],
  [
    "CHAT-12",
    "arguments as text",
    { role: "assistant", tool_calls: [{ ...call, arguments: "{}" }] },
    ".tool_calls[0].arguments",
  ],
  ["CHAT-12", "arguments as a list", calling({ ...call, arguments: [] }), ".tool_calls[0].arguments"],
  ["CHAT-244", "null as arguments", calling({ ...call, arguments: null }), ".tool_calls[0].arguments"],
  ["CHAT-12", "calls that are no list", said("assistant", { tool_calls: call }), ".tool_calls"],
  ["CHAT-13", "two calls of one id", calling(call, { ...call, name: "b" }), ".tool_calls"],
  ["CHAT-16", "empty text", user(text, { type: "text", text: "" }), ".content[1].text"],
  ["CHAT-16", "text without text", user({ type: "text" }), ".content[0].text"],
  ["CHAT-16", "a signature that is no text", user({ ...text, signature: 1 }), ".content[0].signature"],
  ["CHAT-17", "an image without source", user({ type: "image" }), ".content[0].source"],
  ["CHAT-17", "a source of no type", user({ ...image, source: { url: "x" } }), ".content[0].source"],
  [
    "CHAT-17",
    "an address with bytes beside it",
    user({ ...image, source: { type: "url", url: "https://a/b.png", base64_data: "AA==" } }),
    ".content[0].source.base64_data",
  ],
  [
    "CHAT-17",
    "bytes with an address beside them",
    user({ ...inline, source: { ...inline.source, url: "https://a/b.png" } }),
    ".content[0].source.url",
  ],
  [
    "CHAT-17",
    "a source of another type",
    user({ ...image, source: { type: "file", url: "x" } }),
    ".content[0].source",
  ],
  [
    "CHAT-17",
    "an empty address",
    user({ ...image, source: { type: "url", url: "" } }),
    ".content[0].source.url",
  ],
  [
    "CHAT-17",
    "an address without url",
    user({ ...image, source: { type: "url", base64_data: "AA==" } }),
    ".content[0].source",
  ],
  ["CHAT-17", "no bytes", user({ ...inline, source: { type: "inline" } }), ".content[0].source.base64_data"],
  [
    "CHAT-18",
    "bytes without a media type",
    user({ ...inline, media_type: undefined }),
    ".content[0].media_type",
  ],
  [
    "CHAT-20",
    "a media type that is no image",
    user({ ...inline, media_type: "text/html" }),
    ".content[0].media_type",
  ],
  [
    "CHAT-20",
    "a media type that is cut",
    user({ ...inline, media_type: "image/" }),
    ".content[0].media_type",
  ],
  ["CHAT-21", "another detail", user({ ...image, detail: "ultra" }), ".content[0].detail"],
  ["CHAT-23", "empty thinking", assistant({ type: "thinking", text: "" }), ".content[0].text"],
  ["CHAT-24", "redacted thinking without data", assistant({ type: "redacted_thinking" }), ".content[0].data"],
  ["CHAT-25", "a block of another type", user({ type: "audio", data: "x" }), ".content[0]"],
  ["CHAT-25", "a block without a type", assistant({ text: "x" }), ".content[0]"],
  ["CHAT-25", "text among the blocks", user("Hello"), ".content[0]"],
];

describe("messages (llm-provider §3)", () => {
  it.each(refused)("%s refuses %s", (_id, _, message, place) => {
    expect(ChatMessageSchema.safeParse(message).success).toBe(false);
    const problem = chatMessageProblem(message) ?? "";
    expect(problem.startsWith(`message${place}`)).toBe(true);
    expect(problem).toMatch(/^message[^\n]*: [^\n]+$/);
  });

  const nonEmpty = fc.string({ minLength: 1 });
  const signature = fc.option(fc.string(), { nil: undefined });
  const signed = (type: string) =>
    fc.record({ type: fc.constant(type), text: nonEmpty, signature }, { requiredKeys: ["type", "text"] });
  const anyBlock = fc.oneof(
    signed("text"),
    signed("thinking"),
    fc.record({ type: fc.constant("redacted_thinking"), data: fc.string() }),
  );
  const anyArguments = fc.dictionary(
    fc.string().filter((key) => key !== "__proto__"),
    fc.jsonValue({ maxDepth: 2 }).filter((value) => !JSON.stringify(value).includes("__proto__")),
  );
  const anyCalls = fc.uniqueArray(
    fc.record({ id: nonEmpty, name: nonEmpty, arguments: anyArguments, signature }),
    { selector: ({ id }) => id, minLength: 1, maxLength: 4 },
  );

  it("keeps blocks, signatures, ids, arguments and their order as they are", () => {
    const message = fc.record({
      role: fc.constant("assistant"),
      content: fc.array(anyBlock, { minLength: 1 }),
      tool_calls: anyCalls,
    });
    fc.assert(
      fc.property(message, (given) => {
        const before = structuredClone(given);
        expect(ChatMessageSchema.parse(given)).toEqual(before);
        expect(given).toEqual(before);
        for (const block of given.content) expect(ContentBlockSchema.parse(block)).toEqual(block);
      }),
    );
  });

  it("says the same by schema and by problem, whatever it is given", () => {
    const near = fc.record(
      {
        role: fc.constantFrom("system", "user", "assistant", "tool", "other"),
        content: fc.oneof(fc.string(), fc.array(fc.oneof(anyBlock, fc.jsonValue())), fc.jsonValue()),
        tool_calls: fc.oneof(anyCalls, fc.jsonValue()),
        tool_call_id: fc.oneof(fc.string(), fc.jsonValue()),
      },
      { requiredKeys: ["role"] },
    );
    fc.assert(
      fc.property(fc.oneof(near, fc.anything()), (value) => {
        const isMessage = ChatMessageSchema.safeParse(value).success;
        expect(chatMessageProblem(value) === undefined).toBe(isMessage);
      }),
      { numRuns: runs(100) },
    );
  });
});

describe("error buckets (harness §7, chat §10)", () => {
  const bucketed: [bucket: string, ...categories: string[]][] = [
    [
      "session_terminating",
      "session_load_failed",
      "session_save_failed",
      "session_state_migration_chain_ambiguous",
      "session_state_migration_missing",
      "session_state_migration_failed",
      "suspension_persistence_failed",
      "suspension_in_unsupported_context",
      "harness_session_id_unresolved",
      "state_validation_error",
      "reducer_error",
      "routing_error",
      "checkpoint_not_found",
      "checkpoint_of_another_kind",
    ],
    [
      "retryable_transient",
      "session_write_conflict",
      "provider_unavailable",
      "provider_rate_limit",
      "provider_rate_limited",
      "provider_timeout",
      "provider_model_not_loaded",
      "harness_signal_subscription_failed",
      "node_exception",
      "edge_exception",
      "checkpoint_save_failed",
    ],
    [
      "user_correctable",
      "provider_invalid_request",
      "provider_invalid_response",
      "provider_authentication",
      "provider_invalid_model",
      "provider_unsupported_content_block",
      "structured_output_invalid",
      "chat_message_shape_invalid",
      "suspension_resume_payload_invalid",
      "suspension_record_invalid",
      "harness_signal_correlation_failed",
      "harness_path_classification_ambiguous",
    ],
  ];
  it.each(bucketed)("%s", (bucket, ...categories) => {
    for (const category of categories)
      expect([category, errorBucketOf(category)]).toEqual([category, bucket]);
  });

  it("names every bucket that is in the table, and may try again what nobody knows", () => {
    expect([...new Set(Object.values(errorBuckets))].sort()).toEqual([...ErrorBucketSchema.options].sort());
    for (const unknown of [null, undefined, "", "socket_hang_up", "constructor", "__proto__"]) {
      expect(errorBucketOf(unknown)).toBe("retryable_transient");
    }
  });
});
