import {
  answer,
  decides,
  type HarnessMutant,
  recode,
  withBatch,
  withError,
  withHello,
  without,
  withResult,
} from "./harness-mutant.ts";

/** Which decision of a typed event is not passed on as it is. */
const garbled = (type: string, ...kills: string[]) =>
  answer(
    `${type} with another decision`,
    withResult((result, request) =>
      request?.params?.event_type === type ? { decision: "block", reason: "always" } : result,
    ),
    ...kills,
  );

/** Harnesses that send another answer than the reference. */
export const harnessAnswerMutants: readonly HarnessMutant[] = [
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
  answer(
    "with a code that is a string",
    withError((error) => ({ ...error, code: String(error.code) })),
    "RPC-26",
  ),
  answer(
    "with a message that is a number",
    withError((error) => ({ ...error, message: 1 })),
    "RPC-27",
  ),
  answer(
    "with HTTP codes",
    withError((error) => ({ ...error, code: 400 })),
    "AHP-100",
  ),
  answer("-32600 for an unknown method", recode(-32601, -32600), "AHP-24", "RPC-32", "RPC-46"),
  answer("-32603 for invalid params", recode(-32602, -32603), "AHP-98", "RPC-33", "AHP-34"),
  answer("-32600 for what is not JSON", recode(-32700, -32600), "RPC-30"),
  answer("-32602 for a handler that fails", recode(-32603, -32602), "RPC-34", "AHP-75", "AHP-59"),
  answer("-32602 for another version", recode(-32000, -32602), "AHP-10"),
  answer(
    "other words for a failure",
    withError((error) => ({ ...error, message: "It failed" })),
    "AHP-99",
    "AHP-165",
  ),
  answer(
    "without its version",
    withHello((result) => without(result, "protocol_version")),
    "AHP-26",
    "AHP-11",
  ),
  answer(
    "without its info",
    withHello((result) => without(result, "harness_info")),
    "AHP-26",
    "AHP-122",
  ),
  answer(
    "with a token that is a number",
    withHello((result) => ({ ...result, session_token: 7 })),
    "AHP-27",
  ),
  answer(
    "with a null token",
    withHello((result) => ({ ...result, session_token: null })),
    "AHP-101",
  ),
  answer(
    "with limits as strings",
    withHello((result) => ({ ...result, config: { batch_size: "1" } })),
    "AHP-123",
  ),
  answer(
    "without limits",
    withHello((result) => without(result, "config")),
    "AHP-74",
    "AHP-94",
  ),
  answer(
    "without capabilities",
    withHello((result) => ({ ...result, harness_info: { ...result.harness_info, capabilities: [] } })),
    "AHP-120",
    "AHP-220",
  ),
  answer(
    "without metadata",
    withResult((result) => without(result, "metadata")),
    "AHP-47",
  ),
  answer(
    "with null metadata",
    decides("allow", (result) => ({ metadata: null, ...result })),
    "AHP-101",
  ),
  answer(
    "without the reason",
    decides("block", (result) => without(result, "reason")),
    "AHP-48",
    "AHP-28",
  ),
  answer(
    "with another tag",
    decides("escalate", ({ decision, ...rest }) => ({ type: decision, ...rest })),
    "AHP-134",
    "AHP-46",
  ),
  answer(
    "with decisions inside",
    withResult((result) => (result?.decision ? { value: result } : result)),
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
  answer(
    "decisions the other way round",
    withBatch((decisions) => decisions.toReversed()),
    "AHP-84",
  ),
  answer(
    "one decision too few",
    withBatch((decisions) => decisions.slice(1)),
    "AHP-85",
    "AHP-83",
  ),
  answer(
    "one decision too many",
    withBatch((decisions) => [...decisions, { decision: "allow" }]),
    "AHP-85",
  ),
  answer(
    "null to a notification in a batch",
    withBatch((all) => all.map((each, index) => (index === 3 ? null : each))),
    "AHP-131",
    "AHP-83",
  ),
  answer(
    "a query without its answer",
    withResult((result, request) => (request?.method === "ahp/query" ? without(result, "answer") : result)),
    "AHP-127",
  ),
  garbled("intent_detection", "AHP-50", "AHP-29"),
  garbled("context_perception", "AHP-51", "AHP-135"),
  garbled("memory_recall", "AHP-52"),
  garbled("planning", "AHP-53"),
  garbled("rate_limit", "AHP-55"),
  garbled("confirmation", "AHP-56"),
];
