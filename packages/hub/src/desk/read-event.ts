import { type AhpEvent, type AhpEventType, ahpEvents } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { displayName, joinKey } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { saidText } from "../client/said-text.ts";
import { firstLine, shortId, textOf } from "./event-text.ts";

/** An event whose payload its schema has accepted. */
export type AnyEvent = Omit<AhpEvent, "payload"> & { readonly payload: unknown };

/** What the hub knows of an event, whoever sent it. */
export interface EventFacts {
  readonly agent: string;
  readonly session: string;
  readonly turn: string | undefined;
  readonly callId: string | undefined;
  readonly subagent: string | undefined;
  /** As rows show it: a long name is shortened. */
  readonly tool: string | undefined;
  readonly summary: string;
  /** How long the agent waits for a decision, in milliseconds (`metadata.wait_ms`); 0: not at all. */
  readonly waitMs: number | undefined;
  readonly payload: JsonObject;
  readonly metadata: JsonObject;
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? (value as JsonObject) : {});

const summaryOf = (type: AhpEventType, payload: JsonObject, tool: string | undefined): string => {
  if (tool !== undefined) {
    const input = objectOf(payload.arguments);
    const main = input.command ?? input.path ?? input.file_path ?? input.pattern ?? input.url ?? input.query;
    return firstLine(`${displayName(tool)} ${textOf(main === undefined ? payload.arguments : main)}`.trim());
  }
  const said = saidText(payload) ?? textOf(payload.title ?? payload.status ?? payload.error);
  const words = said.trim().split("\n", 1)[0] ?? "";
  return firstLine(words === "" ? type : `${type}: ${words}`);
};

/** Agent and session of an event, as rows, approvals and presence name them. */
export const originOf = (event: AnyEvent): Pick<EventFacts, "agent" | "session"> => ({
  agent: shortId(event.agent_id) ?? "unknown",
  session: shortId(event.session_id) ?? "unknown",
});

/** Whether it came through a hook of another vendor's agent, which connects anew for each event. */
export const isHookEvent = ({ metadata }: AnyEvent): boolean =>
  typeof (metadata as { hook_event?: unknown } | undefined)?.hook_event === "string";

/** The tool of a hook's call that no table of its host has. */
export const unknownToolOf = ({ event_type: type, metadata }: AnyEvent): string | undefined => {
  const { unknown_tool: isUnknown, host_tool: tool } = objectOf(metadata);
  return type === "pre_action" && isUnknown === true ? shortId(tool) : undefined;
};

/** Reads what agents say by convention: the tool, its call, the turn. */
export const readEvent = (event: AnyEvent): EventFacts => {
  const payload = objectOf(event.payload);
  const metadata = objectOf(event.metadata);
  const isAction = event.event_type === "pre_action" || event.event_type === "post_action";
  const tool = isAction ? (shortId(payload.tool_name) ?? "unknown") : undefined;
  const { wait_ms: wait } = metadata;
  const { agent, session } = originOf(event);
  return {
    agent,
    session,
    turn: shortId(metadata.turn_id ?? metadata.run_id ?? payload.run_id ?? metadata.prompt_id),
    callId: shortId(payload.tool_call_id ?? metadata.call_id ?? payload.call_id),
    subagent: shortId(metadata.subagent),
    tool,
    summary: summaryOf(event.event_type, payload, tool),
    waitMs: typeof wait === "number" && wait >= 0 ? wait : undefined,
    payload,
    metadata,
  };
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
