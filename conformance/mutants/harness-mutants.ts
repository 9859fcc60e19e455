import type { TransportName } from "../src/scenario/step-schema.ts";
import type { Answer, HarnessDeviation, Request } from "./reference-harness.ts";

/** A harness with one deviation, and the requirements of which at least each has a check that notices it. */
export interface HarnessMutant extends HarnessDeviation {
  readonly name: string;
  readonly kills: readonly string[];
  readonly transport?: Exclude<TransportName, "stdio">;
}

const skip = (rule: string, ...kills: string[]): HarnessMutant => ({
  name: `without ${rule}`,
  kills,
  skip: rule,
});

const serve = (how: string, transport: HarnessMutant["transport"], ...kills: string[]): HarnessMutant => ({
  name: `${transport} ${how}`,
  kills,
  serve: how,
  ...(transport === undefined ? {} : { transport }),
});

const answer = (
  name: string,
  change: NonNullable<HarnessDeviation["answer"]>,
  ...kills: string[]
): HarnessMutant => ({
  name: `answers ${name}`,
  kills,
  answer: change,
});

const read = (
  name: string,
  change: NonNullable<HarnessDeviation["read"]>,
  ...kills: string[]
): HarnessMutant => ({
  name: `reads ${name}`,
  kills,
  read: change,
});

const withResult =
  (change: (result: Answer, request: Request) => unknown) => (reply: Answer, request: Request) =>
    reply.result === undefined ? reply : { ...reply, result: change(reply.result, request) };

const withHello = (change: (result: Answer) => unknown) =>
  withResult((result, request) => (request?.method === "ahp/handshake" ? change(result) : result));

const withError = (change: (error: Answer) => unknown) => (reply: Answer) =>
  reply.error === undefined ? reply : { ...reply, error: change(reply.error) };

const withBatch = (change: (decisions: Answer[]) => unknown) =>
  withResult((result, request) =>
    request?.method === "ahp/batch" ? { ...result, decisions: change(result.decisions) } : result,
  );

const recode = (from: number, to: number) =>
  withError((error) => (error.code === from ? { ...error, code: to } : error));

const without = (value: Request, ...names: string[]) =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([key]) => !names.includes(key)));

const eventOf = (change: (event: Request) => Request) => (message: Request) =>
  message?.method === "ahp/event" && typeof message.params === "object"
    ? { ...message, params: change(message.params) }
    : message;

/** Refuses events of which something holds, as if their params were not valid. */
const refusing = (isRefused: (event: Request) => boolean) =>
  eventOf((event) => (isRefused(event) ? { ...event, timestamp: 0 } : event));

const refusesPayload = (type: string, isRefused: (payload: Request) => boolean) =>
  refusing((event) => event?.event_type === type && isRefused(event.payload ?? {}));

const decides = (decision: string, change: (value: Answer) => unknown) =>
  withResult((result) => (result?.decision === decision ? change(result) : result));

const typed = {
  idle: ["AHP-136"],
  intent_detection: ["AHP-137"],
  context_perception: ["AHP-138", "AHP-141", "AHP-142", "AHP-143", "AHP-144", "AHP-145"],
  memory_recall: ["AHP-147"],
  planning: ["AHP-148", "AHP-149"],
  reasoning: ["AHP-150", "AHP-151"],
  rate_limit: ["AHP-152", "AHP-153"],
  confirmation: ["AHP-154", "AHP-155"],
  run_lifecycle: ["AHP-35", "AHP-36", "AHP-41", "AHP-133"],
  task_list: ["AHP-37", "AHP-38", "AHP-42", "AHP-158"],
  verification: ["AHP-39", "AHP-40", "AHP-43"],
};

/** Which decision of a typed event is not passed on as it is. */
const garbled = (type: string, ...kills: string[]) =>
  answer(
    `${type} with another decision`,
    withResult((result, request) =>
      request?.params?.event_type === type ? { decision: "block", reason: "always" } : result,
    ),
    ...kills,
  );

export const harnessMutants: readonly HarnessMutant[] = [
  ...Object.entries(typed).map(([type, kills]) =>
    skip(`payload-${type}`, ...kills, ...(type in { idle: 1, planning: 1 } ? ["AHP-194"] : [])),
  ),
  skip("known-types", "AHP-33", "AHP-34"),
  skip("depth", "AHP-70", "AHP-119"),
  skip("batch-depth", "AHP-132", "AHP-70"),
  skip("event-shape", "AHP-19", "AHP-98", "AHP-125", "AHP-129", "AHP-130"),
  skip("idle-default", "AHP-166", "AHP-49"),
  skip("unsupported", "AHP-165"),
  skip("fail-closed", "AHP-75"),
  skip("safe-errors", "AHP-195"),
  skip("own-policy", "AHP-4", "AHP-16", "AHP-48"),
  skip("decision-shape", "AHP-59"),
  skip("handshake-shape", "AHP-98"),
  skip("keeps-handshake", "AHP-182"),
  skip("version", "AHP-10"),
  skip("no-version", "AHP-14"),
  skip("blocking-told", "AHP-71"),
  skip("told-asked", "AHP-72"),
  skip("batch-shape", "AHP-98"),
  skip("batch-size", "AHP-89", "AHP-118"),
  skip("batchable", "AHP-31", "AHP-73", "AHP-87"),
  skip("batch-failures", "AHP-86"),
  skip("batch-fail-closed", "AHP-86"),
  skip("query-shape", "AHP-98"),
  skip("unknown-query", "AHP-219"),
  skip("json-rpc", "AHP-97", "RPC-31"),
  skip("introduction", "AHP-186"),
  skip("answers-told", "AHP-18", "RPC-14"),
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
  read(
    "2.4 only",
    (message) =>
      message?.params?.protocol_version === "2.0"
        ? { ...message, params: { ...message.params, protocol_version: "3.0" } }
        : message,
    "AHP-11",
  ),
  read(
    "unknown members as faults",
    refusing((event) => "color" in (event ?? {})),
    "AHP-102",
  ),
  read(
    "null as a fault",
    refusing((event) => event?.context === null),
    "AHP-101",
  ),
  read(
    "small integers only",
    refusing((event) => event?.context?.session_stats?.total_tokens === -1),
    "AHP-211",
    "AHP-129",
  ),
  read(
    "UTC only",
    refusing((event) => String(event?.timestamp).endsWith("+02:00")),
    "AHP-125",
  ),
  read(
    "objects as payloads only",
    refusing((event) => event?.event_type === "pre_prompt" && typeof event.payload !== "object"),
    "AHP-160",
  ),
  read(
    "nothing beyond the first level",
    refusing((event) => event?.depth > 0 && event.depth < 11),
    "AHP-119",
  ),
  read(
    "events without their context",
    eventOf((event) => without(event, "context")),
    "AHP-20",
  ),
  read(
    "null in targets as a fault",
    refusesPayload("context_perception", ({ target }) => JSON.stringify(target ?? "").includes("null")),
    "AHP-146",
  ),
  read(
    "times as strings only",
    refusesPayload("context_perception", ({ target }) => typeof target?.event?.time_range?.from === "number"),
    "AHP-212",
  ),
  read(
    "context_perception without defaults",
    eventOf((event) =>
      event?.event_type === "context_perception" && event.payload?.domain === undefined
        ? { ...event, payload: { ...event.payload, domain: "coding" } }
        : event,
    ),
    "AHP-139",
  ),
  read(
    "no sources",
    eventOf((event) =>
      event?.event_type === "context_perception"
        ? { ...event, payload: { ...event.payload, constraints: { include_sources: false } } }
        : event,
    ),
    "AHP-140",
  ),
  ...["run_lifecycle", "verification", "post_action", "heartbeat"].map((type) =>
    read(
      `${type} without noting it`,
      (message) =>
        message?.params?.event_type === type && message.id === undefined
          ? { ...message, params: {} }
          : message,
      "AHP-30",
      ...(type === "run_lifecycle" ? ["AHP-44", "AHP-36"] : []),
      ...(type === "verification" ? ["AHP-45", "AHP-40"] : []),
    ),
  ),
  read(
    "task lists without what they do not need",
    eventOf((event) =>
      event?.event_type === "task_list" ? { ...event, payload: { ...event.payload, tasks: [] } } : event,
    ),
    "AHP-44",
    "AHP-38",
  ),
  read(
    "verifications without risks",
    eventOf((event) =>
      event?.event_type === "verification"
        ? { ...event, payload: without(event.payload, "residual_risks", "artifacts") }
        : event,
    ),
    "AHP-221",
  ),
  read(
    "query events in a batch",
    (message) =>
      message?.method === "ahp/batch"
        ? {
            ...message,
            params: {
              events: [message.params?.events ?? {}]
                .flat()
                .map((event) =>
                  event?.event_type === "query" ? { ...event, event_type: "pre_action" } : event,
                ),
            },
          }
        : message,
    "AHP-88",
  ),
  read(
    "notifications in a batch as faults",
    (message) =>
      message?.method === "ahp/batch" && message.params?.events?.length === 1
        ? {
            ...message,
            params: {
              events: message.params.events.map((event: Request) =>
                event?.event_type === "success" ? {} : event,
              ),
            },
          }
        : message,
    "AHP-31",
  ),
  read(
    "arrays element by element",
    (message) => (Array.isArray(message) ? (message[0] ?? {}) : message),
    "AHP-173",
  ),
  serve("one-at-a-time", "unix", "AHP-169", "AHP-91"),
  serve("logs", "unix", "AHP-106"),
  serve("length-prefix", "unix", "AHP-106"),
  serve("silent-garbage", "unix", "AHP-183"),
  serve("hangs-up", "unix", "AHP-183"),
  serve("forgets-pieces", "unix", "AHP-106"),
  serve("one-a-chunk", "unix", "AHP-106"),
  serve("no-limit", "unix", "AHP-170"),
  serve("ends-early", "unix", "RPC-19"),
  serve("told-200", "http", "AHP-109"),
  serve("told-silent", "http", "AHP-175"),
  serve("error-400", "http", "AHP-176"),
  serve("as-text", "http", "AHP-108"),
  serve("other-path", "http", "AHP-111"),
  serve("session-bound", "http", "AHP-216"),
  serve("any-host", "http", "AHP-178"),
  serve("any-origin", "http", "AHP-178"),
  serve("any-type", "http", "AHP-180"),
  serve("any-method", "http", "AHP-107"),
  serve("no-limit", "http", "AHP-179"),
  serve("anyone", "http", "AHP-81", "AHP-177"),
  serve("forbids", "http", "AHP-177"),
  serve("no-key", "http", "AHP-112"),
  serve("anyone", "ws", "AHP-82"),
  serve("forbids", "ws", "AHP-177"),
  serve("no-query", "ws", "AHP-114"),
  serve("no-pong", "ws", "AHP-116"),
  serve("binary", "ws", "AHP-113"),
];
