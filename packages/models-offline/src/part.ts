import type { JSONObject } from "@ai-sdk/provider";
import { inlineCode } from "./report.ts";
import type { ToolOutcome } from "./tool-outcome.ts";

/** A call that a part of the task needs. */
export interface PlannedCall {
  /** bash, read, write, edit, glob or grep, or a tool that the user named. */
  readonly tool: string;
  readonly input: JSONObject;
}

/** A call, and a sentence about it. */
export interface PlannedStep extends PlannedCall {
  readonly say: string;
}

/** How a part of the task ended. */
export interface PartResult {
  /** `done`, not done for a reason that the report gives, or stopped because its call was cancelled. */
  readonly status: "done" | "not-done" | "cancelled";
  readonly report: string;
}

/**
 * A part of the task, written as a conversation: it yields the calls it needs and is given their outcomes. It keeps
 * no state of its own: the driver replays it from the transcript at every step.
 */
export type Part = Generator<PlannedStep, PartResult, ToolOutcome>;

export const done = (report: string): PartResult => ({ status: "done", report });

/**
 * The result of a part whose call did not succeed: says which of the different ends it was. `action` is a clause
 * with a subject, like "reading `a.md`".
 */
export const notDone = (tool: string, action: string, outcome: ToolOutcome, partial = ""): PartResult => {
  // A reason may be a whole sentence: the full stop is that of the report.
  const reason = outcome.reason?.replace(/(?<!\.)\.$/, "");
  const because = reason === undefined ? "." : `: ${inlineCode(reason, 300)}.`;
  const sentence = sentenceOf(outcome, action, tool) + because;
  return {
    status: outcome.status === "cancelled" ? "cancelled" : "not-done",
    report: partial === "" ? sentence : `${sentence}\n${partial}`,
  };
};

/** Where no user said no, a call was not refused. */
const sentenceOf = ({ status, reason = "" }: ToolOutcome, action: string, tool: string): string =>
  status === "rejected" && /^No user could be asked|^This \w+ was not approved in time/.test(reason)
    ? `Not done: ${action} was not approved`
    : sentences[status](action, tool);

const sentences: Readonly<Record<ToolOutcome["status"], (action: string, tool: string) => string>> = {
  ok: (action) => `Done: ${action}`,
  failed: (action) => `It did not work: ${action} failed`,
  rejected: (action) => `Not done: ${action} was refused`,
  blocked: (action) => `Not done: ${action} was blocked by a policy`,
  forbidden: (action) => `Not done: ${action} is not permitted`,
  cancelled: (action) => `Stopped: ${action} was cancelled before it ended`,
  timeout: (action) => `Not finished: ${action} took too long and was timed out`,
  unknown: (action) => `Unknown: no result came back for ${action}, so it may or may not have happened`,
  unavailable: (action, tool) =>
    `Not possible here: ${action} needs a tool called ${tool}, and I was given none or may not use it`,
};
