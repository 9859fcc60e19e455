import type { Explanation } from "@harnesskit/policy";
import type { RowDecision, RowState } from "@harnesskit/protocol/hub";
import type { NewRow, StoredContent } from "@harnesskit/timeline";
import { type ContentRules, redactedLine, rowContent } from "../timeline/row-content.ts";
import { usageIn } from "../timeline/row-usage.ts";
import type { AnyEvent, EventFacts } from "./read-event.ts";

/** A decision as a policy makes it. */
export interface Word {
  readonly escalation_target?: string;
  readonly decision: string;
  readonly reason?: string;
  readonly modified_payload?: unknown;
}

/** The rule's own words, without its name, which stands beside them; what matched, where it has none. */
export const reasonOf = ({ decided, rule, source, why }: Explanation, made?: Word): string => {
  const reason = made?.reason ?? (decided as Word | undefined)?.reason ?? why;
  const named = ` (${source === "limit" ? "limit" : "rule"} ${rule})`;
  const words = reason.endsWith(named) ? reason.slice(0, -named.length) : reason;
  return words.slice(0, 4000);
};

export const rowOf = (event: AnyEvent, facts: EventFacts, state: RowState, atMs: number): NewRow => {
  const { agent, session, turn, callId, subagent, tool, summary, payload } = facts;
  return {
    type: event.event_type,
    atMs,
    agent,
    session,
    turn,
    callId,
    depth: event.depth,
    subagent,
    tool,
    summary: redactedLine(summary),
    state,
    usage: usageIn(payload),
  };
};

export const eventContent = (
  event: AnyEvent,
  rules: ContentRules,
  { explanation, modified }: { readonly explanation?: Explanation; readonly modified?: unknown } = {},
): StoredContent => ({
  event: rowContent(event, rules),
  modifiedInput: modified === undefined ? undefined : rowContent(modified, rules),
  explanation:
    explanation === undefined
      ? undefined
      : {
          why: explanation.why,
          shadowed: explanation.shadowed.map(({ rule, decision }) => ({ rule, decision })),
        },
});

export const rowDecisionOf = (explanation: Explanation, made: Word | undefined): RowDecision => {
  const { source, rule, mode } = explanation;
  const reason = reasonOf(explanation, made);
  return {
    decision: made?.decision ?? "not supported",
    source,
    rule,
    reason: reason === "" ? undefined : reason,
    mode: mode === "shadow" ? mode : undefined,
  };
};
