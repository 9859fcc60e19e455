import { deviating, type Mutant, resultOf, within, without } from "./mutant.ts";
import type { Answer, HarnessDeviation, Request } from "./reference-harness.ts";

type Change = (value: Answer) => unknown;

const answer = deviating<HarnessDeviation, "answer">("answers", "answer");
const withError = (change: Change) => (reply: Answer) =>
  reply.error === undefined ? reply : { ...reply, error: change(reply.error) };
const recode = (from: number, to: number) =>
  withError((error) => (error.code === from ? { ...error, code: to } : error));
/** Changes the result of requests of a method. */
const resultsOf = (method: string) =>
  within(
    answer,
    (change: Change) => (reply: Answer, request: Request) =>
      request?.method === method ? resultOf(change)(reply) : reply,
  );

const errors = within(answer, withError);
const results = within(answer, resultOf);
const hellos = resultsOf("ahp/handshake");
const batches = within(resultsOf("ahp/batch"), (change: (decisions: Answer[]) => unknown) => (result) => ({
  ...result,
  decisions: change(result.decisions),
}));
const decisions = (decision: string) =>
  within(results, (change: Change) => (result) => (result?.decision === decision ? change(result) : result));

/** Which decision of a typed event is not passed on as it is. */
const garbled = (type: string, ...kills: string[]) =>
  answer(
    `${type} with another decision`,
    (reply, request) =>
      request?.params?.event_type === type
        ? resultOf(() => ({ decision: "block", reason: "always" }))(reply)
        : reply,
    ...kills,
  );

/** Harnesses that send another answer than the reference. */
export const harnessAnswerMutants: readonly Mutant<HarnessDeviation>[] = [
  answer("without jsonrpc", (reply) => without(reply, "jsonrpc"), "AHP-8", "RPC-20"),
  answer("with the id as a string", (reply) => ({ ...reply, id: String(reply.id) }), "AHP-96", "RPC-13"),
  answer(
    "without an id to errors",
    (reply) => (reply.error ? without(reply, "id") : reply),
    "RPC-23",
    "AHP-172",
  ),
  answer(
    "null for an id that cannot be read",
    (reply) => ({ ...reply, id: reply.id === "" ? null : reply.id }),
    "AHP-172",
  ),
  answer(
    "with result and error",
    (reply) => (reply.error ? { ...reply, result: {} } : reply),
    "RPC-25",
    "RPC-22",
  ),
  answer(
    "with null for error",
    (reply) => (reply.result ? { ...reply, error: null } : reply),
    "RPC-21",
    "AHP-7",
  ),
  errors("with a code that is a string", (error) => ({ ...error, code: String(error.code) }), "RPC-26"),
  errors("with a message that is a number", (error) => ({ ...error, message: 1 }), "RPC-27"),
  errors("with HTTP codes", (error) => ({ ...error, code: 400 }), "AHP-100"),
  answer("-32600 for an unknown method", recode(-32601, -32600), "AHP-24", "RPC-32", "RPC-46"),
  answer("-32603 for invalid params", recode(-32602, -32603), "AHP-98", "RPC-33", "AHP-34"),
  answer("-32600 for what is not JSON", recode(-32700, -32600), "RPC-30"),
  answer("-32602 for a handler that fails", recode(-32603, -32602), "RPC-34", "AHP-75", "AHP-59"),
  answer("-32602 for another version", recode(-32000, -32602), "AHP-10"),
  errors("other words for a failure", (error) => ({ ...error, message: "It failed" }), "AHP-99", "AHP-165"),
  hellos("without its version", (result) => without(result, "protocol_version"), "AHP-26", "AHP-11"),
  hellos("without its info", (result) => without(result, "harness_info"), "AHP-26", "AHP-122"),
  hellos("with a token that is a number", (result) => ({ ...result, session_token: 7 }), "AHP-27"),
  hellos("with a null token", (result) => ({ ...result, session_token: null }), "AHP-101"),
  hellos("with limits as strings", (result) => ({ ...result, config: { batch_size: "1" } }), "AHP-123"),
  hellos("without limits", (result) => without(result, "config"), "AHP-74", "AHP-94"),
  hellos(
    "without capabilities",
    (result) => ({ ...result, harness_info: { ...result.harness_info, capabilities: [] } }),
    "AHP-120",
    "AHP-220",
  ),
  results("without metadata", (result) => without(result, "metadata"), "AHP-47"),
  decisions("allow")("with null metadata", (result) => ({ metadata: null, ...result }), "AHP-101"),
  decisions("block")("without the reason", (result) => without(result, "reason"), "AHP-48", "AHP-28"),
  decisions("escalate")(
    "with another tag",
    ({ decision, ...rest }) => ({ type: decision, ...rest }),
    "AHP-134",
    "AHP-46",
  ),
  results(
    "with decisions inside",
    (result) => (result?.decision ? { value: result } : result),
    "AHP-16",
    "AHP-28",
  ),
  answer(
    "nothing to requests that fail",
    (reply) => (reply.error ? undefined : reply),
    "AHP-97",
    "AHP-183",
    "AHP-173",
  ),
  answer(
    "nothing to a handshake",
    (reply, request) => (request?.method === "ahp/handshake" ? undefined : reply),
    "AHP-22",
  ),
  batches("decisions the other way round", (decisions) => decisions.toReversed(), "AHP-84"),
  batches("one decision too few", (decisions) => decisions.slice(1), "AHP-85", "AHP-83"),
  batches("one decision too many", (decisions) => [...decisions, { decision: "allow" }], "AHP-85"),
  batches(
    "null to a notification in a batch",
    (all) => all.map((each, index) => (index === 3 ? null : each)),
    "AHP-131",
    "AHP-83",
  ),
  resultsOf("ahp/query")("a query without its answer", (result) => without(result, "answer"), "AHP-127"),
  garbled("intent_detection", "AHP-50", "AHP-29"),
  garbled("context_perception", "AHP-51", "AHP-135"),
  garbled("memory_recall", "AHP-52"),
  garbled("planning", "AHP-53"),
  garbled("rate_limit", "AHP-55"),
  garbled("confirmation", "AHP-56"),
];
