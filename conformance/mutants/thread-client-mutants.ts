import type { AgentMutant } from "./agent-mutants.ts";
import type { Answer, Request } from "./reference-harness.ts";

const skip = (rule: string, ...kills: string[]): AgentMutant => ({
  name: `without ${rule}`,
  kills,
  skip: rule,
});
const sends = (name: string, send: (message: Request) => Request, ...kills: string[]): AgentMutant => ({
  name: `sends ${name}`,
  kills,
  send,
});
const gives = (operation: string, change: (given: Answer) => Answer, ...kills: string[]): AgentMutant => ({
  name: `gives another result of ${operation}`,
  kills,
  give: (given, done) => (done === operation ? change(given) : given),
});

const without = (value: Request, ...names: string[]) =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([key]) => !names.includes(key)));
const withParams = (method: string, change: (params: Request) => Request) => (message: Request) =>
  message.method === method ? { ...message, params: change(message.params) } : message;

export const threadClientMutants: readonly AgentMutant[] = [
  skip("errors", "THR-49", "THR-50", "RPC-22"),
  skip("codes", "THR-49", "THR-51", "THR-52", "THR-53"),
  skip("own-turns", "THR-28"),
  skip("completed-items", "THR-22", "THR-30"),
  skip("approvals", "THR-11", "THR-23"),
  skip("cancelled", "THR-26"),
  skip("turn-errors", "THR-19"),
  skip("ids", "RPC-13"),
  skip("pieces", "THR-1"),
  sends("no jsonrpc", (message) => without(message, "jsonrpc"), "THR-1", "RPC-5"),
  sends(
    "fractions as ids",
    (message) => ("id" in message ? { ...message, id: 0.5 } : message),
    "RPC-11",
    "RPC-12",
  ),
  sends(
    "params as arrays",
    (message) => ({ ...message, params: [message.params] }),
    "RPC-15",
    "THR-8",
    "THR-35",
  ),
  sends(
    "another method",
    (message) => (message.method === "thread.list" ? { ...message, method: "threads/list" } : message),
    "RPC-6",
    "THR-6",
  ),
  sends(
    "a client without a name",
    withParams("initialize", () => ({ clientInfo: {} })),
    "THR-4",
  ),
  sends(
    "no title",
    withParams("thread.create", (params) => without(params, "title")),
    "THR-5",
  ),
  sends(
    "another thread",
    withParams("thread.get", () => ({ threadId: "other" })),
    "THR-7",
  ),
  sends(
    "a cancel of nothing",
    withParams("turn.cancel", () => ({})),
    "THR-15",
  ),
  sends(
    "always once",
    withParams("approval.respond", (params) => ({ ...params, decision: "once" })),
    "THR-11",
  ),
  gives("connect", (given) => without(given, "version"), "THR-3"),
  gives("create_thread", () => ({}), "THR-36"),
  gives("get_thread", (given) => without(given, "events"), "THR-7", "THR-39"),
  gives("start_turn", (given) => ({ ...given, status: "completed!" }), "THR-18"),
];
