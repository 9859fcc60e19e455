import type { AuditEntryInput } from "@harnesskit/audit";
import { type Explanation, type Policy, PolicyError, type PolicyProblem } from "@harnesskit/policy";
import { oneLine, safeJson } from "../terminal/text.ts";

/** What of an event is shown. */
interface ShownEvent {
  readonly event_type: string;
  readonly session_id: string;
  readonly agent_id: string;
  readonly payload: unknown;
}

const maxNameWidth = 80;

const stringField = (payload: unknown, name: string): string => {
  const value =
    typeof payload === "object" && payload !== null ? (payload as Record<string, unknown>)[name] : "";
  return typeof value === "string" && value !== "" ? ` ${oneLine(value, maxNameWidth)}` : "";
};

/** What it is about, by name only: arguments and texts may hold secrets. */
const subjectOf = ({ event_type: type, payload }: ShownEvent): string => {
  if (type === "pre_action" || type === "post_action") return stringField(payload, "tool_name");
  if (type === "task_list") return stringField(payload, "run_id");
  return type === "run_lifecycle" || type === "verification"
    ? `${stringField(payload, "run_id")}${stringField(payload, "status")}`
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

/** Who decided: `by no-force`, `by the default`. */
export const byWhom = ({ rule, source }: Explanation): string => {
  const name = rule === undefined ? "" : ` ${rule}`;
  if (source === "default") return "by the default";
  if (source === "failure") return rule === undefined ? "as the default failed" : `as the rule${name} failed`;
  if (source === "guard") return "by the guard of the policy's file";
  return source === "limit" ? `by the limit${name}` : `by${name}`;
};

/** What rules in shadow would have decided: ` (in shadow: reads → allow)`; empty without any. */
export const inShadow = ({ shadowed, mode, decided }: Explanation): string => {
  const told = shadowed.map(({ rule, decision }) => `${rule} → ${decision}`);
  if (mode === "shadow") told.unshift(`the policy → ${decided?.decision ?? "no say"}`);
  return told.length === 0 ? "" : ` (in shadow: ${told.join(", ")})`;
};

/** A decision with the rule that made it and why, as people read it: safe lines. */
export const explanationLines = (subject: string, explanation: Explanation): string[] => {
  const { decision, why } = explanation;
  const { decision: word = "not supported", ...fields } = { ...decision } as Record<string, unknown>;
  const reason = typeof fields.reason === "string" ? `: ${fields.reason}` : "";
  const lines = [`${subject} → ${word} ${byWhom(explanation)}${reason}`, `  why: ${why}`];
  const shadow = inShadow(explanation);
  if (shadow !== "") lines.push(`  ${shadow.trim()}`);
  for (const [key, value] of Object.entries(fields)) {
    if (key !== "reason" && key !== "metadata") lines.push(`  ${key}: ${safeJson(value)}`);
  }
  return lines;
};

/** The same as JSON. */
export const explanationJson = ({ decision, decided, rule, source, why, mode, shadowed }: Explanation) => ({
  ...{ decision, would: mode === "shadow" ? decided : undefined, rule, source, why, mode, shadowed },
});

/** A problem with its place. */
export const problemLine = (file: string, { line, column, message }: PolicyProblem): string =>
  `${file}:${line}:${column}: ${message}`;

/** Warnings about a policy, one line each. */
export const policyWarnings = ({ file, warnings }: Pick<Policy, "file" | "warnings">): readonly string[] =>
  warnings.map((warning) => `warning: ${problemLine(file, warning)}`);

/** What is wrong with a policy, in a line. */
export const describePolicyError = (error: unknown): string => {
  if (!PolicyError.isInstance(error)) return error instanceof Error ? error.message : String(error);
  const [first] = error.problems;
  const more = error.problems.length > 1 ? ` (and ${error.problems.length - 1} more)` : "";
  return (first ? problemLine(error.file, first) : error.message) + more;
};
