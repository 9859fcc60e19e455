import type { ChatDeviation } from "./reference-chat.ts";
import type { Json } from "./reference-script.ts";

/** A chat harness with one deviation, and the requirements of which at least each has a check that notices it. */
export interface ChatMutant extends ChatDeviation {
  readonly name: string;
  readonly kills: readonly string[];
}

const skip = (rule: string, ...kills: string[]): ChatMutant => ({ name: `without ${rule}`, kills, skip: rule });
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
const gives = (name: string, change: (result: Json, method: string) => Json, ...kills: string[]): ChatMutant => ({
  name: `gives ${name}`,
  kills,
  gives: change,
});
const reduces = (field: string, reducer: (prior: Json, update: Json) => Json, ...kills: string[]): ChatMutant => ({
  name: `reduces ${field} in another way`,
  kills,
  reducers: { [field]: reducer },
});
const bucket = (category: string, other: string, ...kills: string[]): ChatMutant => ({
  name: `puts ${category} into ${other}`,
  kills,
  buckets: { [category]: other },
});

const blocksOf = ({ content }: Json): Json[] => (Array.isArray(content) ? content : []);
const hasBlock = (isOne: (block: Json) => unknown) => (message: Json) =>
  blocksOf(message).some((block) => isOne(block) && typeof block === "object");
const image = (isOne: (block: Json) => unknown) => hasBlock((block) => block.type === "image" && isOne(block));
const withBlocks = (change: (block: Json) => Json) => (message: Json) =>
  Array.isArray(message.content) ? { ...message, content: message.content.map(change) } : message;
const withCalls = (change: (call: Json) => Json) => (message: Json) =>
  message.tool_calls ? { ...message, tool_calls: message.tool_calls.map(change) } : message;
const without = (value: Json, name: string): Json =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
const isEmpty = (value: Json): boolean => value === "" || value?.length === 0;

const messageMutants: readonly ChatMutant[] = [
  takes("other roles", ({ role }) => ["admin", "User"].includes(role), "CHAT-1", "CHAT-30"),
  takes("blocks of the system", ({ role, content }) => role === "system" && Array.isArray(content), "CHAT-2"),
  takes("empty messages", ({ role, content }) => role === "user" && isEmpty(content), "CHAT-3"),
  takes("silent assistants", ({ role, content, tool_calls: calls }) => role === "assistant" && isEmpty(content) && !calls, "CHAT-4"),
  takes("calls that are none", ({ role, content, tool_calls: calls }) => role === "assistant" && content === "" && !calls?.length, "CHAT-11"),
  takes("pictures of the assistant", ({ role, content }) => role === "assistant" && image(() => true)({ content }), "CHAT-6"),
  takes("blocks of tools", ({ role, content }) => role === "tool" && Array.isArray(content), "CHAT-7"),
  takes("calls of users", ({ role, tool_calls: calls }) => role !== "assistant" && calls, "CHAT-8"),
  takes("results of users", ({ role, tool_call_id: id }) => role !== "tool" && id, "CHAT-9"),
  takes("results of no call", ({ role, tool_call_id: id }) => role === "tool" && !id, "CHAT-10", "CHAT-30"),
  takes("calls without arguments", ({ tool_calls: calls }) => calls?.some(({ arguments: given }: Json) => given === null), "CHAT-12"),
  takes("calls of one id", ({ tool_calls: calls }) => calls?.length === 2 && calls[0].id === calls[1].id, "CHAT-13"),
  takes("empty text", hasBlock(({ type, text }) => type === "text" && text === ""), "CHAT-16", "CHAT-27"),
  takes("images without a source", image(({ source }) => source === undefined), "CHAT-17"),
  takes("data without a type", image(({ source, media_type: type }) => source?.type === "inline" && !type), "CHAT-18"),
  takes("pages as images", image(({ media_type: type }) => type === "text/html"), "CHAT-20"),
  takes("any detail", image(({ detail }) => detail === "ultra"), "CHAT-21"),
  takes("empty thoughts", hasBlock(({ type, text }) => type === "thinking" && !text), "CHAT-23"),
  takes("redacted thoughts without data", hasBlock(({ type, data }) => type === "redacted_thinking" && !data), "CHAT-24"),
  takes("audio", hasBlock(({ type }) => type === "audio"), "CHAT-25"),
  refuses("the system", ({ role }) => role === "system", "CHAT-2", "CHAT-29"),
  refuses("tools", ({ role }) => role === "tool", "CHAT-7", "CHAT-29"),
  refuses("calls without words", ({ content, tool_calls: calls }) => calls && !content?.length, "CHAT-5"),
  refuses("webp", image(({ media_type: type }) => type === "image/webp"), "CHAT-19"),
  refuses("gif", image(({ media_type: type }) => type === "image/gif"), "CHAT-20"),
  refuses("a type beside an address", image(({ source, media_type: type }) => source?.url && type), "CHAT-18"),
  refuses("other schemes", image(({ source }) => source?.url?.startsWith("app:")), "CHAT-22"),
  keeps("no signatures of calls", withCalls((call) => without(call, "signature")), "CHAT-14"),
  keeps("a detail of its own", withBlocks((block) => (block.type === "image" ? { detail: "auto", ...block } : block)), "CHAT-21"),
  keeps("other addresses", withBlocks((block) => (block.source?.url ? { ...block, source: { type: "url", url: "https://cache.example/1" } } : block)), "CHAT-22"),
  keeps("no signatures of thoughts", withBlocks((block) => (block.type === "thinking" ? without(block, "signature") : block)), "CHAT-23"),
  keeps("other data", withBlocks((block) => (block.data ? { ...block, data: "" } : block)), "CHAT-24"),
  keeps("the thoughts last", (message) => (blocksOf(message)[0]?.type === "thinking" ? { ...message, content: message.content.toReversed() } : message), "CHAT-26"),
  keeps("unknown keys", (message) => ({ ...message, color: "green" }), "CHAT-15", "CHAT-186"),
  skip("where", "CHAT-27"),
  skip("check-first", "CHAT-28"),
  skip("session-id", "CHAT-183", "CHAT-176"),
  skip("session-id-first", "CHAT-183"),
];

export const chatMutants: readonly ChatMutant[] = [
  ...messageMutants,
  skip("no_declared_entry", "CHAT-56", "CHAT-53"),
  skip("unreachable_node", "CHAT-57"),
  skip("dangling_edge", "CHAT-58"),
  skip("multiple_outgoing_edges", "CHAT-59"),
  skip("missing_outgoing_edge", "CHAT-64"),
  skip("duplicate_node", "CHAT-64"),
  skip("reducer_configuration_invalid", "CHAT-49"),
  skip("no-messages", "CHAT-195"),
  skip("last-message", "CHAT-194"),
  skip("null-record", "CHAT-116"),
  skip("one-load", "CHAT-180"),
  skip("all-roles", "CHAT-187"),
  skip("inbound", "CHAT-190"),
  skip("by-content", "CHAT-189"),
  skip("final-state", "CHAT-188"),
  skip("saves", "CHAT-129", "CHAT-117", "CHAT-122", "CHAT-179"),
  skip("keeps-note", "CHAT-120", "CHAT-125"),
  skip("shape", "CHAT-121"),
  skip("messages-only", "CHAT-186"),
  skip("edges", "CHAT-51", "CHAT-55"),
  skip("lanes", "CHAT-184"),
  skip("release", "CHAT-185"),
  skip("diagnostic", "CHAT-211", "CHAT-191"),
  skip("chain", "CHAT-69"),
  skip("unknown-transient", "CHAT-32"),
  skip("edge", "CHAT-66"),
  skip("routing", "CHAT-67"),
  skip("validation", "CHAT-68", "CHAT-34"),
  skip("undeclared", "CHAT-36"),
  skip("rolls-back", "CHAT-193", "CHAT-131"),
  skip("load-fails", "CHAT-123"),
  skip("save-fails", "CHAT-130"),
  skip("no-record", "CHAT-124"),
  skip("equal-versions", "CHAT-139"),
  skip("record-defaults", "CHAT-126"),
  skip("stored-shape", "CHAT-127"),
  skip("save-in-the-middle", "CHAT-133"),
  skip("saves-update", "CHAT-133"),
  skip("durable", "CHAT-157", "CHAT-122", "CHAT-129"),
  skip("summary", "CHAT-117"),
  skip("forgets", "CHAT-117"),
  skip("idempotent", "CHAT-117"),
  skip("migrates", "CHAT-138"),
  skip("missing", "CHAT-140"),
  skip("migration-fails", "CHAT-142"),
  skip("version", "CHAT-143", "CHAT-129"),
  skip("ambiguous", "CHAT-141"),
  skip("reducer-error", "CHAT-48"),
  skip("metadata", "CHAT-154"),
  skip("pending", "CHAT-148", "CHAT-192"),
  skip("session-at-pause", "CHAT-172"),
  skip("signal-id", "CHAT-154"),
  skip("taken", "CHAT-203"),
  skip("swallow", "CHAT-151"),
  skip("dropped", "CHAT-147"),
  skip("marked", "CHAT-149"),
  skip("again", "CHAT-150"),
  skip("edge-at-resume", "CHAT-163"),
  skip("atomic", "CHAT-173"),
  skip("once", "CHAT-160", "CHAT-166", "CHAT-205"),
  skip("payload", "CHAT-161", "CHAT-162"),
  skip("still-waits", "CHAT-162"),
  skip("overlay", "CHAT-161"),
  skip("no-rerun", "CHAT-164"),
  skip("same-invocation", "CHAT-165"),
  skip("rebase", "CHAT-175", "CHAT-174"),
  skip("merges-again", "CHAT-174"),
  skip("never-signal", "CHAT-178"),
  skip("by-invocation", "CHAT-202", "CHAT-167"),
  skip("correlation", "CHAT-204"),
  skip("own-listeners", "CHAT-198"),
  skip("once-told", "CHAT-198"),
  skip("isolated", "CHAT-206"),
  skip("unsubscribe", "CHAT-199"),
  skip("later-reply", "CHAT-200"),
  skip("told-at-end", "CHAT-207"),
  skip("whole-tail", "CHAT-207"),
  skip("pending-twice", "CHAT-208"),
  bucket("session_load_failed", "retryable_transient", "CHAT-31", "CHAT-33"),
  bucket("provider_timeout", "session_terminating", "CHAT-31"),
  bucket("provider_authentication", "retryable_transient", "CHAT-31"),
  bucket("node_exception", "user_correctable", "CHAT-32"),
  gives("another bucket", (result) => (result.error_bucket ? { ...result, error_bucket: "fatal" } : result), "CHAT-33", "CHAT-191"),
  gives("no reply", (result) => (result.outcome === "errored" ? without(result, "reply") : result), "CHAT-191", "CHAT-209", "CHAT-210"),
  gives("one reply instead of a list", (result) => (result.replies ? { ...result, replies: result.replies[0] ?? null } : result), "CHAT-187"),
  gives("no invocation", (result) => without(result, "invocation_id"), "CHAT-192", "CHAT-148"),
  gives("another outcome", (result, method) => (method === "send" ? { ...result, outcome: "done" } : result), "CHAT-182"),
  gives("failures of nodes as a category of its own", (result) => (result.error_category === "node_exception" ? { ...result, error_category: "crash" } : result), "CHAT-65"),
  reduces("note", (prior, update) => prior + update, "CHAT-39", "CHAT-38"),
  reduces("list", (prior, update) => [...new Set([...prior, ...update])], "CHAT-40"),
  reduces("map", (prior, update) => ({ ...update, ...prior }), "CHAT-41"),
  reduces("flat", (prior, update) => [...prior, ...update.flat(9)], "CHAT-42"),
  reduces("all", (_, update) => Object.assign({}, ...update), "CHAT-43"),
  reduces("bounded", (prior, update) => [...prior, ...update].slice(0, 3), "CHAT-44"),
  reduces("unique", (_, update) => [...new Set(update)], "CHAT-45"),
  reduces("keyed", (prior, update) => [...prior, ...update], "CHAT-46"),
];
