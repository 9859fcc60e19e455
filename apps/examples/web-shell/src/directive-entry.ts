import { type ActionDirective, fallbackTextOf, misfitTextOf } from "@harnesskit/protocol/openharness";
import type { PendingApproval } from "@harnesskit/shell-client";
import type { NewEntry, Question } from "./entries.ts";
import { fieldOf, lineOf } from "./values.ts";

/** Fields of a payload with a place of their own. */
const shown: ReadonlySet<string> = new Set([
  "message",
  "title",
  "subject",
  "continuation",
  "fallback_message",
]);

const textOf = (payload: unknown, name: string): string | undefined => {
  const text = fieldOf(payload, name);
  return typeof text === "string" ? text : undefined;
};

/** What a `render_message` shows. */
export const messageEntry = (directive: ActionDirective): NewEntry => ({
  kind: "message",
  text: fallbackTextOf(directive) ?? "",
});

/** What a `render_ui` shows. */
export const cardEntry = (directive: ActionDirective): NewEntry => {
  const { payload } = directive;
  return {
    kind: "card",
    component: textOf(payload, "component") ?? "",
    title: lineOf(payload, "title", 200),
    data: fieldOf(payload, "data"),
    fallback: misfitTextOf(directive),
    isSettled: false,
  };
};

/** What is asked: of a `request_approval`, or of any other directive before it is carried out. */
export const questionOf = (directive: ActionDirective, risk: Question["risk"]): Question => {
  const { action_type: type, payload = {} } = directive;
  const message = fallbackTextOf(directive) ?? "";
  const others = Object.entries(payload).filter(([name, value]) => !shown.has(name) && value !== message);
  const subject = fieldOf(payload, "subject");
  if (type !== "request_approval") {
    return { title: "The engine wants to do this", message: type, risk, subject: payload };
  }
  return {
    title: lineOf(payload, "title", 200),
    message,
    risk,
    subject,
    // What the page has no place for is part of what is approved, and so it is shown.
    ...(others.length === 0 ? {} : { more: Object.fromEntries(others) }),
  };
};

/** A question of the engine that waits for its answer. */
export const approvalEntry = (pending: PendingApproval): NewEntry => ({
  kind: "approval",
  question: questionOf(pending.directive, pending.directive.risk_tier ?? "caution"),
  pending,
  state: "open",
  reason: undefined,
});
