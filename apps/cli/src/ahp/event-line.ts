import type { AuditEntryInput } from "@harnesskit/audit";
import { oneLine } from "../terminal/one-line.ts";

/** What of an event is shown. */
export interface ShownEvent {
  readonly event_type: string;
  readonly session_id: string;
  readonly agent_id: string;
  readonly payload: unknown;
}

const maxNameWidth = 80;

const textIn = (payload: unknown, name: string): string => {
  const value =
    typeof payload === "object" && payload !== null ? (payload as Record<string, unknown>)[name] : "";
  return typeof value === "string" && value !== "" ? ` ${oneLine(value, maxNameWidth)}` : "";
};

/** What it is about, by name only: arguments and texts may hold secrets. */
const subjectOf = ({ event_type: type, payload }: ShownEvent): string => {
  if (type === "pre_action" || type === "post_action") return textIn(payload, "tool_name");
  if (type === "task_list") return textIn(payload, "run_id");
  return type === "run_lifecycle" || type === "verification"
    ? `${textIn(payload, "run_id")}${textIn(payload, "status")}`
    : "";
};

const fromWhom = (sessionId: string | undefined, agentId: string | undefined): string => {
  const names = [
    ...(sessionId ? [`session ${oneLine(sessionId, maxNameWidth)}`] : []),
    ...(agentId ? [`agent ${oneLine(agentId, maxNameWidth)}`] : []),
  ];
  return names.length === 0 ? "" : ` (${names.join(", ")})`;
};

/** One event that was handled, and its decision, as one safe line. */
export const eventLine = (event: ShownEvent, decision?: string): string => {
  const answer = decision === undefined ? "" : ` → ${oneLine(decision, 40)}`;
  return `${event.event_type}${subjectOf(event)}${answer}${fromWhom(event.session_id, event.agent_id)}`;
};

const detail = (details: AuditEntryInput["details"], name: string): string => {
  const value = details?.[name];
  return value === undefined || value === null ? "" : oneLine(String(value), maxNameWidth);
};

/** What the audit log says beside the events that were handled: handshakes, queries, and what was refused. */
export const entryLine = (entry: AuditEntryInput): string | undefined => {
  const { action, outcome, details, session_id: session, agent_id: agent } = entry;
  const whom = fromWhom(session, agent);
  const reason = detail(details, "reason");
  if (action === "ahp.contract" && outcome !== "ok") {
    return `${detail(details, "event_type")} ${detail(details, "run_id")} not applied: ${reason}${whom}`;
  }
  if (outcome !== "ok") {
    const what = detail(details, "event_type") || detail(details, "query_type");
    return `${outcome ?? "refused"}: ${[action.replace(/^ahp\./, ""), what].filter(Boolean).join(" ")}: ${reason}${whom}`;
  }
  if (action === "ahp.handshake") return `handshake ${detail(details, "protocol_version")}${whom}`;
  if (action === "ahp.query") return `query ${detail(details, "query_type")} → answered${whom}`;
  return action === "ahp.batch" ? `batch of ${detail(details, "events")} → answered${whom}` : undefined;
};
