import type { RowApproval, TimelineRow } from "@harnesskit/protocol/hub";
import { displayName, displayText } from "@harnesskit/wire";

/** What an agent did, in words, by the type of its event. */
const words: Readonly<Record<string, string>> = {
  pre_prompt: "asked",
  post_response: "answered by the model",
  session_start: "session started",
  session_end: "session ended",
  run_lifecycle: "run",
  task_list: "tasks",
  verification: "checks",
  rate_limit: "rate limit",
  confirmation: "asks you",
  intent_detection: "intent",
  context_perception: "context",
  memory_recall: "recall",
};

/** The name that a row has for a person: its tool, or its event in words. The string comes from the agent. */
export const rowName = ({ tool, type }: Pick<TimelineRow, "tool" | "type">): string =>
  tool ?? words[type] ?? type.replaceAll("_", " ");

/** What a row is about, without its name: the summary begins with the tool or the event's type. */
export const rowSubject = ({
  tool,
  type,
  summary,
}: Pick<TimelineRow, "tool" | "type" | "summary">): string => {
  const name = displayName(tool ?? type);
  if (summary === name) return "";
  return summary.startsWith(name) ? summary.slice(name.length).replace(/^:? /, "") : summary;
};

/** Each decision with its word, in the order in which people choose one. */
export const decisionWords: ReadonlyMap<string, string> = new Map([
  ["allow", "allowed"],
  ["approve", "approved"],
  ["block", "blocked"],
  ["reject", "refused"],
  ["modify", "changed"],
  ["escalate", "asks you"],
  ["defer", "later"],
  ["unjudged", "not judged"],
]);

/** A decision in words: "allowed" for `allow`, "asks you" for `escalate`. One that has no word is returned as safe text of at most 40 characters. */
export const decisionWord = (decision: string): string =>
  decisionWords.get(decision) ?? displayText(decision, { maxLength: 40 });

/** How a question ended, in words, or that it waits: "refused" for `rejected`. */
export const approvalWord = ({ status }: Pick<RowApproval, "status">): string =>
  status === "rejected" ? "refused" : status;
