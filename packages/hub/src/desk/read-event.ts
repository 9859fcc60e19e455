import { createHash } from "node:crypto";
import { type AhpEvent, type AhpEventType, ahpEvents } from "@harnesskit/protocol/ahp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { canonicalJson, joinKey } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";

/** An event whose payload its schema has accepted. */
export type AnyEvent = Omit<AhpEvent, "payload"> & { readonly payload: unknown };

const maxIdLength = 256;
const maxSummaryLength = 300;

/** A string of an agent as an id: cut, so that a store takes it. */
const idOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value.slice(0, maxIdLength) : undefined;

/** The first line of a string that may be long; made safe before it is kept. */
const firstLine = (text: string): string => text.slice(0, 4 * maxSummaryLength).split("\n", 1)[0] ?? "";

/** What the hub knows of an event, whoever sent it. */
export interface EventFacts {
  readonly agent: string;
  readonly session: string;
  readonly turn: string | undefined;
  readonly callId: string | undefined;
  readonly tool: string | undefined;
  readonly summary: string;
  /** How long the agent waits for a decision, in milliseconds (`metadata.wait_ms`); 0: not at all. */
  readonly waitMs: number | undefined;
  /** Whether it came through a hook of another vendor's agent, which connects anew for each event. */
  readonly isHook: boolean;
  readonly payload: JsonObject;
  readonly metadata: JsonObject;
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? (value as JsonObject) : {});

const textOf = (value: JsonValue | undefined): string => {
  if (typeof value === "string") return value;
  return value === undefined ? "" : JSON.stringify(value);
};

const summaryOf = (type: AhpEventType, payload: JsonObject, tool: string | undefined): string => {
  const input = objectOf(payload.arguments);
  if (tool !== undefined) {
    const main = input.command ?? input.path ?? input.file_path ?? input.pattern ?? input.url ?? input.query;
    return firstLine(`${tool} ${main === undefined ? textOf(payload.arguments) : textOf(main)}`.trim());
  }
  const said =
    payload.prompt ?? payload.text ?? payload.message ?? payload.title ?? payload.status ?? payload.error;
  const words = textOf(said).trim().split("\n", 1)[0] ?? "";
  return firstLine(words === "" ? type : `${type}: ${words}`);
};

/** Reads what agents say by convention: the tool, its call, the turn. */
export const readEvent = (event: AnyEvent): EventFacts => {
  const payload = objectOf(event.payload);
  const metadata = objectOf(event.metadata);
  const isAction = event.event_type === "pre_action" || event.event_type === "post_action";
  const tool = isAction ? (idOf(payload.tool_name) ?? "unknown") : undefined;
  const { wait_ms: wait } = metadata;
  return {
    agent: idOf(event.agent_id) ?? "unknown",
    session: idOf(event.session_id) ?? "unknown",
    turn: idOf(metadata.turn_id ?? metadata.run_id ?? payload.run_id ?? metadata.prompt_id),
    callId: idOf(payload.tool_call_id ?? metadata.call_id ?? payload.call_id),
    tool,
    summary: summaryOf(event.event_type, payload, tool),
    waitMs: typeof wait === "number" && wait >= 0 ? wait : undefined,
    isHook: typeof metadata.hook_event === "string",
    payload,
    metadata,
  };
};

/** Names the row of an action, from its first event to its outcome: by its call, else by what it does. */
export const actionKey = ({ agent, session, callId, tool, payload }: EventFacts): string => {
  if (callId !== undefined) return joinKey(joinKey(agent, session), `call ${callId}`);
  const input = canonicalJson({ tool: tool ?? "", arguments: payload.arguments ?? null });
  return joinKey(joinKey(agent, session), `does ${createHash("sha256").update(input).digest("base64url")}`);
};

/** Names the row of a snapshot that later ones replace; undefined for other events. */
export const snapshotKey = (
  type: AhpEventType,
  { agent, session, payload }: EventFacts,
): string | undefined => {
  if (!ahpEvents[type].contract) return undefined;
  const { run_id: run, verification_id: id, task_id: task } = payload;
  return joinKey(joinKey(agent, session), `${type} ${textOf(run)} ${textOf(id ?? task)}`);
};

export type Outcome = { readonly state: "done" | "failed" | "refused" | "unknown"; readonly text?: string };

const failed: ReadonlySet<unknown> = new Set(["error", "failed", "failure", "cancelled", "timeout"]);
const refused: ReadonlySet<unknown> = new Set(["refused", "blocked", "rejected", "denied", "skipped"]);

/** What a `post_action` says of its action: by `outcome` or `status`, `failed`, `success`, `exit_code` or `error`. */
export const outcomeOf = ({ payload }: EventFacts): Outcome => {
  const { outcome = payload.status, error, exit_code: exit } = payload;
  const words = textOf(error ?? payload.reason).split("\n", 1)[0] ?? "";
  const text = words === "" ? {} : { text: firstLine(words) };
  if (outcome === "unknown") return { state: "unknown", ...text };
  if (refused.has(outcome)) return { state: "refused", ...text };
  const isFailed =
    failed.has(outcome) ||
    payload.failed === true ||
    payload.success === false ||
    (typeof exit === "number" && exit !== 0) ||
    (outcome === undefined && error !== undefined && error !== null);
  if (!isFailed) return { state: "done", ...text };
  return typeof exit === "number" && words === ""
    ? { state: "failed", text: `exit code ${exit}` }
    : { state: "failed", ...text };
};

/** What the agent wants to do, as a human is asked about it. */
export const subjectOf = (
  type: AhpEventType,
  { tool, payload, metadata }: EventFacts,
): { tool: string; input: JsonObject; preview?: string } => {
  const { preview = payload.preview } = metadata;
  const shown = typeof preview === "string" && preview !== "" ? { preview } : {};
  if (tool !== undefined) {
    const { arguments: given = {} } = payload;
    return { tool, input: isObject(given) ? (given as JsonObject) : { value: given }, ...shown };
  }
  if (type === "pre_prompt") {
    const { prompt = "", ...rest } = payload;
    // Last: a field `text` of the agent would stand in the prompt's place.
    return { tool: "prompt", input: { ...rest, text: textOf(prompt) } };
  }
  const { session_id: _session, ...rest } = payload;
  return { tool: type, input: rest };
};
