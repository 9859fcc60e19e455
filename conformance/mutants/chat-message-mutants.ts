import { deviating, type Mutant, skip, within, without } from "./mutant.ts";
import type { ChatDeviation } from "./reference-chat.ts";
import type { Json } from "./reference-script.ts";

type IsOne = (value: Json) => unknown;

const blocksOf = ({ content }: Json): Json[] => (Array.isArray(content) ? content : []);
const hasBlock = (isOne: IsOne) => (message: Json) =>
  blocksOf(message).some((block) => isOne(block) && typeof block === "object");
const image = (isOne: IsOne) => hasBlock((block) => block.type === "image" && isOne(block));
const isEmpty = (value: Json): boolean => value === "" || value?.length === 0;

const judges = (verb: string, verdict: boolean) =>
  within(
    deviating<ChatDeviation, "takes">(verb, "takes"),
    (isMeant: IsOne) => (message) => (isMeant(message) ? verdict : undefined),
  );
const takes = judges("takes", true);
const takesBlock = within(takes, hasBlock);
const takesImage = within(takes, image);
const refuses = judges("refuses", false);
const refusesImage = within(refuses, image);
const keeps = deviating<ChatDeviation, "keeps">("keeps", "keeps");
const keepsBlocks = within(
  keeps,
  (change: (block: Json) => Json) => (message) =>
    Array.isArray(message.content) ? { ...message, content: message.content.map(change) } : message,
);
const keepsCalls = within(
  keeps,
  (change: (call: Json) => Json) => (message) =>
    message.tool_calls ? { ...message, tool_calls: message.tool_calls.map(change) } : message,
);

/** Mutants that take, refuse or change messages. */
export const messageMutants: readonly Mutant<ChatDeviation>[] = [
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
  takesBlock("empty text", ({ type, text }) => type === "text" && text === "", "CHAT-16", "CHAT-27"),
  takesImage("images without a source", ({ source }) => source === undefined, "CHAT-17"),
  takesImage(
    "data without a type",
    ({ source, media_type: type }) => source?.type === "inline" && !type,
    "CHAT-18",
  ),
  takesImage("pages as images", ({ media_type: type }) => type === "text/html", "CHAT-20"),
  takesImage("any detail", ({ detail }) => detail === "ultra", "CHAT-21"),
  takesBlock("empty thoughts", ({ type, text }) => type === "thinking" && !text, "CHAT-23"),
  takesBlock(
    "redacted thoughts without data",
    ({ type, data }) => type === "redacted_thinking" && !data,
    "CHAT-24",
  ),
  takesBlock("audio", ({ type }) => type === "audio", "CHAT-25"),
  refuses("the system", ({ role }) => role === "system", "CHAT-2", "CHAT-29"),
  refuses("tools", ({ role }) => role === "tool", "CHAT-7", "CHAT-29"),
  refuses("calls without words", ({ content, tool_calls: calls }) => calls && !content?.length, "CHAT-5"),
  refusesImage("webp", ({ media_type: type }) => type === "image/webp", "CHAT-19"),
  refusesImage("gif", ({ media_type: type }) => type === "image/gif", "CHAT-20"),
  refusesImage("a type beside an address", ({ source, media_type: type }) => source?.url && type, "CHAT-18"),
  refusesImage("other schemes", ({ source }) => source?.url?.startsWith("app:"), "CHAT-22"),
  keepsCalls("no signatures of calls", (call) => without(call, "signature"), "CHAT-14"),
  keepsBlocks(
    "a detail of its own",
    (block) => (block.type === "image" ? { detail: "auto", ...block } : block),
    "CHAT-21",
  ),
  keepsBlocks(
    "other addresses",
    (block) =>
      block.source?.url ? { ...block, source: { type: "url", url: "https://cache.example/1" } } : block,
    "CHAT-22",
  ),
  keepsBlocks(
    "no signatures of thoughts",
    (block) => (block.type === "thinking" ? without(block, "signature") : block),
    "CHAT-23",
  ),
  keepsBlocks("other data", (block) => (block.data ? { ...block, data: "" } : block), "CHAT-24"),
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
