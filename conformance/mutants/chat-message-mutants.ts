import { type ChatMutant, skip, without } from "./chat-mutant.ts";
import type { Json } from "./reference-script.ts";

const takes = (name: string, isTaken: (message: Json) => boolean, ...kills: string[]): ChatMutant => ({
  name: `takes ${name}`,
  kills,
  takes: (message) => (isTaken(message) ? true : undefined),
});
const refuses = (name: string, isRefused: (message: Json) => boolean, ...kills: string[]): ChatMutant => ({
  name: `refuses ${name}`,
  kills,
  takes: (message) => (isRefused(message) ? false : undefined),
});
const keeps = (name: string, change: (message: Json) => Json, ...kills: string[]): ChatMutant => ({
  name: `keeps ${name}`,
  kills,
  keeps: change,
});
const blocksOf = ({ content }: Json): Json[] => (Array.isArray(content) ? content : []);
const hasBlock = (isOne: (block: Json) => unknown) => (message: Json) =>
  blocksOf(message).some((block) => isOne(block) && typeof block === "object");
const image = (isOne: (block: Json) => unknown) =>
  hasBlock((block) => block.type === "image" && isOne(block));
const withBlocks = (change: (block: Json) => Json) => (message: Json) =>
  Array.isArray(message.content) ? { ...message, content: message.content.map(change) } : message;
const withCalls = (change: (call: Json) => Json) => (message: Json) =>
  message.tool_calls ? { ...message, tool_calls: message.tool_calls.map(change) } : message;
const isEmpty = (value: Json): boolean => value === "" || value?.length === 0;

/** Mutants that take, refuse or change messages. */
export const messageMutants: readonly ChatMutant[] = [
  takes("other roles", ({ role }) => ["admin", "User"].includes(role), "CHAT-1", "CHAT-30"),
  takes("blocks of the system", ({ role, content }) => role === "system" && Array.isArray(content), "CHAT-2"),
  takes("empty messages", ({ role, content }) => role === "user" && isEmpty(content), "CHAT-3"),
  takes(
    "silent assistants",
    ({ role, content, tool_calls: calls }) => role === "assistant" && isEmpty(content) && !calls,
    "CHAT-4",
  ),
  takes(
    "calls that are not valid",
    ({ role, content, tool_calls: calls }) => role === "assistant" && content === "" && !calls?.length,
    "CHAT-11",
  ),
  takes(
    "pictures of the assistant",
    ({ role, content }) => role === "assistant" && image(() => true)({ content }),
    "CHAT-6",
  ),
  takes("blocks of tools", ({ role, content }) => role === "tool" && Array.isArray(content), "CHAT-7"),
  takes("calls of users", ({ role, tool_calls: calls }) => role !== "assistant" && calls, "CHAT-8"),
  takes("results of users", ({ role, tool_call_id: id }) => role !== "tool" && id, "CHAT-9"),
  takes("results of no call", ({ role, tool_call_id: id }) => role === "tool" && !id, "CHAT-10", "CHAT-30"),
  takes(
    "calls without arguments",
    ({ tool_calls: calls }) => calls?.some(({ arguments: given }: Json) => given === null),
    "CHAT-12",
  ),
  takes(
    "calls of one id",
    ({ tool_calls: calls }) => calls?.length === 2 && calls[0].id === calls[1].id,
    "CHAT-13",
  ),
  takes(
    "empty text",
    hasBlock(({ type, text }) => type === "text" && text === ""),
    "CHAT-16",
    "CHAT-27",
  ),
  takes(
    "images without a source",
    image(({ source }) => source === undefined),
    "CHAT-17",
  ),
  takes(
    "data without a type",
    image(({ source, media_type: type }) => source?.type === "inline" && !type),
    "CHAT-18",
  ),
  takes(
    "pages as images",
    image(({ media_type: type }) => type === "text/html"),
    "CHAT-20",
  ),
  takes(
    "any detail",
    image(({ detail }) => detail === "ultra"),
    "CHAT-21",
  ),
  takes(
    "empty thoughts",
    hasBlock(({ type, text }) => type === "thinking" && !text),
    "CHAT-23",
  ),
  takes(
    "redacted thoughts without data",
    hasBlock(({ type, data }) => type === "redacted_thinking" && !data),
    "CHAT-24",
  ),
  takes(
    "audio",
    hasBlock(({ type }) => type === "audio"),
    "CHAT-25",
  ),
  refuses("the system", ({ role }) => role === "system", "CHAT-2", "CHAT-29"),
  refuses("tools", ({ role }) => role === "tool", "CHAT-7", "CHAT-29"),
  refuses("calls without words", ({ content, tool_calls: calls }) => calls && !content?.length, "CHAT-5"),
  refuses(
    "webp",
    image(({ media_type: type }) => type === "image/webp"),
    "CHAT-19",
  ),
  refuses(
    "gif",
    image(({ media_type: type }) => type === "image/gif"),
    "CHAT-20",
  ),
  refuses(
    "a type beside an address",
    image(({ source, media_type: type }) => source?.url && type),
    "CHAT-18",
  ),
  refuses(
    "other schemes",
    image(({ source }) => source?.url?.startsWith("app:")),
    "CHAT-22",
  ),
  keeps(
    "no signatures of calls",
    withCalls((call) => without(call, "signature")),
    "CHAT-14",
  ),
  keeps(
    "a detail of its own",
    withBlocks((block) => (block.type === "image" ? { detail: "auto", ...block } : block)),
    "CHAT-21",
  ),
  keeps(
    "other addresses",
    withBlocks((block) =>
      block.source?.url ? { ...block, source: { type: "url", url: "https://cache.example/1" } } : block,
    ),
    "CHAT-22",
  ),
  keeps(
    "no signatures of thoughts",
    withBlocks((block) => (block.type === "thinking" ? without(block, "signature") : block)),
    "CHAT-23",
  ),
  keeps(
    "other data",
    withBlocks((block) => (block.data ? { ...block, data: "" } : block)),
    "CHAT-24",
  ),
  keeps(
    "the thoughts last",
    (message) =>
      blocksOf(message)[0]?.type === "thinking"
        ? { ...message, content: message.content.toReversed() }
        : message,
    "CHAT-26",
  ),
  keeps("unknown keys", (message) => ({ ...message, color: "green" }), "CHAT-15", "CHAT-186"),
  skip("where", "CHAT-27"),
  skip("check-first", "CHAT-28"),
  skip("session-id", "CHAT-183", "CHAT-176"),
  skip("session-id-first", "CHAT-183"),
];
