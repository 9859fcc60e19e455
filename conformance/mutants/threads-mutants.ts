import { deviating, type Mutant, paramsOf, resultOf, skip, within, without } from "./mutant.ts";
import type { Answer } from "./reference-harness.ts";
import type { ThreadsDeviation } from "./reference-threads.ts";

const sends = deviating<ThreadsDeviation, "send">("sends", "send");
const params = (method: string) => within(sends, paramsOf(method));
const results = within(sends, resultOf);
/** Changes the data of completed items of a type. */
const items = (type: string) =>
  within(
    params("item.completed"),
    (change: (data: Answer) => unknown) => (told: Answer) =>
      told.type === type ? { ...told, item: { ...told.item, data: change(told.item.data) } } : told,
  );
const nothing = (method: string) => (message: Answer) => (message.method === method ? undefined : message);
const recode = (from: number, to: number) => (message: Answer) =>
  message.error?.code === from ? { ...message, error: { ...message.error, code: to } } : message;

export const threadsMutants: readonly Mutant<ThreadsDeviation>[] = [
  skip("files", "THR-40", "THR-42"),
  skip("meta", "THR-41"),
  skip("restarts", "THR-42", "THR-69"),
  skip("interrupted", "THR-71"),
  skip("waits-on", "THR-69"),
  skip("history", "THR-7"),
  skip("safe-errors", "THR-19"),
  skip("one-end", "THR-27"),
  skip("cancelled-status", "THR-26", "THR-18"),
  skip("renames", "THR-90"),
  skip("titles", "THR-90"),
  skip("archives", "THR-91"),
  skip("archive-busy", "THR-91"),
  skip("unarchives", "THR-91"),
  skip("archived", "THR-91"),
  skip("queues", "THR-92"),
  skip("takes-back", "THR-93"),
  skip("any-case", "THR-94"),
  skip("queries", "THR-94"),
  skip("fork-ends", "THR-96"),
  skip("origins", "THR-96"),
  skip("approvals", "THR-23", "THR-12", "THR-24"),
  skip("grants", "THR-13"),
  skip("exact-grants", "THR-13"),
  skip("asks-again", "THR-12"),
  skip("rejections", "THR-14"),
  skip("shapes", "THR-47", "RPC-33"),
  skip("thread-code", "THR-49", "THR-98"),
  skip("turn-code", "THR-51"),
  skip("approval-code", "THR-52", "THR-53"),
  skip("resolved", "THR-53"),
  skip("repeats", "THR-68"),
  skip("conflicts", "THR-68"),
  skip("same-initialize", "THR-55"),
  skip("inside", "THR-57"),
  skip("ids", "THR-5"),
  skip("paging", "THR-64"),
  skip("parts", "THR-63"),
  skip("past", "THR-65"),
  skip("delete-busy", "THR-75"),
  skip("files-as-input", "THR-35"),
  skip("known-models", "THR-54"),
  skip("known-agents", "THR-54"),
  skip("busy", "THR-50", "THR-92"),
  skip("model", "THR-9"),
  skip("agent", "THR-10"),
  skip("reply-first", "THR-25"),
  skip("answers-told", "RPC-14"),
  skip("optional-params", "RPC-8", "THR-4"),
  skip("pieces", "THR-1"),
  skip("merged", "THR-1"),
  skip("slow-readers", "RPC-19"),
  sends("no jsonrpc", (message) => without(message, "jsonrpc"), "THR-1", "RPC-20"),
  sends(
    "ids as strings",
    (message) => ("id" in message ? { ...message, id: String(message.id) } : message),
    "RPC-13",
    "RPC-24",
  ),
  sends(
    "result and error",
    (message) => (message.error ? { ...message, result: {} } : message),
    "RPC-25",
    "THR-47",
  ),
  sends(
    "codes as strings",
    (message) => (message.error ? { ...message, error: { ...message.error, code: "x" } } : message),
    "RPC-26",
  ),
  sends(
    "no message",
    (message) => (message.error ? { ...message, error: { ...message.error, message: 7 } } : message),
    "RPC-27",
  ),
  sends(
    "a stack",
    (message) =>
      message.error
        ? { ...message, error: { ...message.error, message: "Error at f (/home/me/a.ts:1:2)" } }
        : message,
    "THR-48",
  ),
  sends("-32600 for what is not JSON", recode(-32700, -32600), "THR-44", "RPC-30"),
  sends("-32700 for what is no request", recode(-32600, -32700), "THR-45", "RPC-31"),
  sends("-32602 for unknown methods", recode(-32601, -32602), "THR-46", "RPC-32"),
  results("no capabilities", (value) => without(value, "capabilities"), "THR-3"),
  sends(
    "no result for initialize",
    (message) => (message.result?.version ? { ...message, result: null } : message),
    "THR-4",
  ),
  results(
    "extensions as a string",
    (value) =>
      value.capabilities ? { ...value, capabilities: { ...value.capabilities, extensions: "all" } } : value,
    "THR-62",
  ),
  results(
    "threads without a time",
    (value) => (value.thread ? { ...value, thread: without(value.thread, "time") } : value),
    "THR-36",
  ),
  results("no list", (value) => (value.threads ? {} : value), "THR-6"),
  results(
    "events without seq",
    (value) =>
      value.events ? { ...value, events: value.events.map((event: Answer) => without(event, "seq")) } : value,
    "THR-39",
    "THR-61",
  ),
  results("no ok", (value) => without(value, "ok"), "THR-11", "THR-15"),
  results("no turnId", (value) => without(value, "turnId"), "THR-8"),
  sends("no thread.created", nothing("thread.created"), "THR-16", "THR-28"),
  sends("no turn.started", nothing("turn.started"), "THR-17"),
  params("turn.completed")(
    "turns without a time",
    (params) => ({ ...params, turn: without(params.turn, "time") }),
    "THR-37",
    "THR-18",
  ),
  sends("no item.started", nothing("item.started"), "THR-20"),
  sends("no deltas", nothing("item.delta"), "THR-21"),
  params("item.delta")("deltas that are objects", (params) => ({ ...params, delta: {} }), "THR-21"),
  items("assistant_message")(
    "messages that are cut",
    (data) => ({ ...data, text: "Hel" }),
    "THR-22",
    "THR-30",
  ),
  items("user_message")("user messages without content", () => ({}), "THR-29"),
  items("tool_exec")("tools without a status", (data) => without(data, "status"), "THR-31", "THR-14"),
  items("tool_log")("logs without a stream", (data) => without(data, "stream"), "THR-32"),
  items("approval")("approvals without their answer", (data) => without(data, "decision"), "THR-33"),
  items("artifact")("artifacts without a size", (data) => without(data, "sizeBytes"), "THR-34"),
  params("item.completed")(
    "items without a type",
    (params) => ({ ...params, item: without(params.item, "type") }),
    "THR-38",
  ),
  sends("no approval.resolved", nothing("approval.resolved"), "THR-67"),
  params("approval.requested")(
    "approvals without a digest",
    (params) => ({ ...params, metadata: without(params.metadata, "digest") }),
    "THR-24",
  ),
  sends(
    "notifications without seq",
    (message) => (message.method ? { ...message, params: without(message.params, "seq") } : message),
    "THR-61",
    "THR-65",
  ),
];
