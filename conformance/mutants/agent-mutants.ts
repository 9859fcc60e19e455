import { deviating, type Mutant, paramsOf, skip, skipOver, within, without } from "./mutant.ts";
import type { AgentDeviation } from "./reference-agent.ts";

export type AgentMutant = Mutant<AgentDeviation>;

export const sends = deviating<AgentDeviation, "send">("sends", "send");
export const params = (method: string) => within(sends, paramsOf(method));
const gives = deviating<AgentDeviation, "give">("gives", "give");

/** The caller gets another decision than the harness made, for one type of event. */
const otherDecision = (decision: string, ...kills: string[]) =>
  gives(
    `another decision than ${decision}`,
    (given) => (given?.decision?.decision === decision ? { decision: { decision: "other" } } : given),
    ...kills,
  );
const withoutMember = (member: string, ...kills: string[]) =>
  gives(
    `decisions without ${member}`,
    (given) =>
      given?.decision?.[member] === undefined ? given : { decision: without(given.decision, member) },
    ...kills,
  );

export const agentMutants: readonly AgentMutant[] = [
  skip("hello-first", "AHP-67", "AHP-68", "AHP-162"),
  skip("version", "AHP-12"),
  skip("minor-versions", "AHP-13"),
  skip("null-as-absent", "AHP-101"),
  skip("limits", "AHP-90", "AHP-93", "AHP-124"),
  skip("depth", "AHP-93"),
  skip("batch-size", "AHP-90"),
  skip("batchable", "AHP-31", "AHP-57", "AHP-164"),
  skip("events-only", "AHP-32"),
  skip("fields-of-caller", "AHP-61", "AHP-20", "AHP-91", "AHP-129"),
  skip("decisions", "AHP-58"),
  skip("fail-closed", "AHP-187", "AHP-188", "AHP-189", "AHP-190", "AHP-191", "AHP-215"),
  skip("version-of-answers", "AHP-63"),
  skip("both", "RPC-25"),
  skip("ids", "AHP-64"),
  skip("error-code", "AHP-65"),
  skip("timeout", "AHP-78"),
  skip("decision-count", "AHP-69", "AHP-192"),
  skip("told-without-id", "AHP-17", "AHP-3", "AHP-30", "AHP-163"),
  skip("told-allow", "AHP-163"),
  skip("pieces", "AHP-106"),
  sends(
    "no typed events",
    (message) => (["planning", "idle"].includes(message.params?.event_type) ? undefined : message),
    "AHP-214",
    "AHP-29",
  ),
  skip("sending-once", "AHP-171"),
  skip("logs", "AHP-106"),
  skip("pending", "AHP-184"),
  skip("close", "AHP-62"),
  skipOver("http", "status", "AHP-110"),
  skipOver("http", "credential", "AHP-79", "AHP-112"),
  skipOver("http", "content-type", "AHP-107"),
  skipOver("ws", "credential", "AHP-80"),
  skipOver("ws", "pong", "AHP-116"),
  skipOver("ws", "text-frames", "AHP-113"),
  sends("numbers as ids", (message) => ("id" in message ? { ...message, id: 7 } : message), "AHP-95"),
  sends("no jsonrpc", (message) => without(message, "jsonrpc"), "AHP-8", "RPC-5"),
  params("ahp/handshake")("another version", (params) => ({ ...params, protocol_version: "2.3" }), "AHP-9"),
  params("ahp/handshake")("no capabilities", (params) => without(params, "agent_info"), "AHP-60", "AHP-121"),
  sends(
    "another method",
    (message) => (message.method === "ahp/query" ? { ...message, method: "ahp/ask" } : message),
    "AHP-23",
    "AHP-126",
  ),
  params("ahp/event")(
    "no timestamp",
    (params) => without(params, "timestamp"),
    "AHP-19",
    "AHP-125",
    "AHP-15",
  ),
  params("ahp/event")("a depth of 1", (params) => ({ ...params, depth: params.depth || 1 }), "AHP-92"),
  params("ahp/event")("null for absent", (params) => ({ context: null, ...params }), "AHP-101"),
  params("ahp/event")(
    "another payload",
    (params) => ({ ...params, payload: {} }),
    "AHP-1",
    "AHP-156",
    "AHP-157",
  ),
  params("ahp/event")(
    "no facts",
    (params) => ({ ...params, context: without(params.context, "recent_facts") }),
    "AHP-130",
    "AHP-129",
  ),
  params("ahp/batch")(
    "batches the other way round",
    ({ events }) => ({ events: events.toReversed() }),
    "AHP-84",
  ),
  params("ahp/query")("queries without a question", (params) => ({ ...params, payload: {} }), "AHP-128"),
  sends("ids for notifications", (message) => ({ id: "x", ...message }), "AHP-17", "AHP-30"),
  sends(
    "gates as notifications",
    (message) => (message.method === "ahp/event" ? without(message, "id") : message),
    "AHP-15",
    "AHP-28",
    "AHP-29",
    "AHP-6",
  ),
  sends("nothing", () => undefined, "AHP-9", "AHP-22", "AHP-60", "RPC-15"),
  gives(
    "a query without its reason",
    (given, operation) => (operation === "query" ? without(given, "reason") : given),
    "AHP-25",
  ),
  gives(
    "null as it came",
    (given) =>
      given?.decision?.decision === "allow" ? { decision: { ...given.decision, metadata: null } } : given,
    "AHP-47",
  ),
  gives(
    "batches the other way round",
    (given, operation) => (operation === "batch" ? { decisions: given.decisions.toReversed() } : given),
    "AHP-84",
  ),
  otherDecision("block", "AHP-2", "AHP-46"),
  otherDecision("defer", "AHP-49", "AHP-46"),
  otherDecision("refine", "AHP-51"),
  otherDecision("retry", "AHP-55"),
  otherDecision("approve", "AHP-56"),
  otherDecision("escalate", "AHP-46", "AHP-56"),
  withoutMember("reason", "AHP-48", "AHP-218", "AHP-52"),
  withoutMember("modified_payload", "AHP-47", "AHP-48"),
  withoutMember("injected_context", "AHP-135", "AHP-51"),
  withoutMember("injected_facts", "AHP-52"),
  withoutMember("selected_strategy", "AHP-53"),
  withoutMember("hints", "AHP-54"),
  withoutMember("detected_intent", "AHP-50"),
];
