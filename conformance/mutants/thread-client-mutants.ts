import { type AgentMutant, params, sends } from "./agent-mutants.ts";
import { skip, without } from "./mutant.ts";
import type { Answer } from "./reference-harness.ts";

const gives = (operation: string, change: (given: Answer) => Answer, ...kills: string[]): AgentMutant => ({
  name: `gives another result of ${operation}`,
  kills,
  give: (given, done) => (done === operation ? change(given) : given),
});

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
  params("initialize")("a client without a name", () => ({ clientInfo: {} }), "THR-4"),
  params("thread.create")("no title", (params) => without(params, "title"), "THR-5"),
  params("thread.get")("another thread", () => ({ threadId: "other" }), "THR-7"),
  params("turn.cancel")("a cancel of nothing", () => ({}), "THR-15"),
  params("approval.respond")("always once", (params) => ({ ...params, decision: "once" }), "THR-11"),
  gives("connect", (given) => without(given, "version"), "THR-3"),
  gives("create_thread", () => ({}), "THR-36"),
  gives("get_thread", (given) => without(given, "events"), "THR-7", "THR-39"),
  gives("start_turn", (given) => ({ ...given, status: "completed!" }), "THR-18"),
];
