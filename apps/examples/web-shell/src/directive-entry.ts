import { type ActionDirective, fallbackTextOf, misfitTextOf } from "@harnesskit/protocol/openharness";
import type { PendingApproval, ShellOutcome } from "@harnesskit/shell-client";
import { cardField, cardLine, safeLine } from "@harnesskit/shell-client/cards";
import type { NewEntry, Question } from "./entries.ts";

/** Fields of a payload with a place of their own. */
const shown: ReadonlySet<string> = new Set([
  "message",
  "title",
  "subject",
  "continuation",
  "fallback_message",
]);

const stringIn = (payload: unknown, name: string): string | undefined => {
  const text = cardField(payload, name);
  return typeof text === "string" ? text : undefined;
};

/** What a `render_message` shows. */
export const messageEntry = (directive: ActionDirective): NewEntry => ({
  kind: "message",
  text: fallbackTextOf(directive) ?? "",
  format: cardField(directive.payload, "format") === "markdown" ? "markdown" : undefined,
});

/** What a `render_ui` shows. */
export const cardEntry = (directive: ActionDirective): NewEntry => {
  const { payload } = directive;
  return {
    kind: "card",
    component: stringIn(payload, "component") ?? "",
    title: cardLine(payload, "title", 200),
    data: cardField(payload, "data"),
    fallback: misfitTextOf(directive),
    isSettled: false,
  };
};

/** What is asked: of a `request_approval`, or of any other directive before it is carried out. */
export const approvalQuestion = (directive: ActionDirective, risk: Question["risk"]): Question => {
  const { action_type: type, payload = {} } = directive;
  const message = fallbackTextOf(directive) ?? "";
  const others = Object.entries(payload).filter(([name, value]) => !shown.has(name) && value !== message);
  const subject = cardField(payload, "subject");
  if (type !== "request_approval") {
    return { title: "The engine wants to do this", message: type, risk, subject: payload };
  }
  return {
    title: cardLine(payload, "title", 200),
    message,
    risk,
    subject,
    // What the page has no place for is part of what is approved, and so it is shown.
    more: others.length === 0 ? undefined : Object.fromEntries(others),
  };
};

/** A question of the engine that waits for its answer. */
export const approvalEntry = (pending: PendingApproval): NewEntry => ({
  kind: "approval",
  question: approvalQuestion(pending.directive, pending.directive.risk_tier ?? "caution"),
  pending,
  state: "open",
  reason: undefined,
});

/** A sentence for each directive that was left out without an explanation, and for each approval that could not be asked. */
export const unshownTexts = ({ results }: ShellOutcome): string[] =>
  results.flatMap(({ directive, outcome, error, shownInstead }) => {
    const type = safeLine(directive.action_type, 100);
    const why = safeLine(error?.message ?? "");
    const hasFailed = outcome === "failed" || outcome === "expired";
    if (outcome === "skipped_unknown" && directive.requires_user_approval === true) {
      return [`An approval could not be asked: this page cannot do ${type}.`];
    }
    if (hasFailed && directive.action_type === "request_approval") {
      return [`An approval could not be asked: ${why}`];
    }
    if (shownInstead !== undefined) return [];
    if (outcome === "skipped_unknown")
      return [`The engine sent something that this page cannot do (${type}).`];
    return hasFailed ? [`Something was not shown (${type}): ${why}`] : [];
  });
