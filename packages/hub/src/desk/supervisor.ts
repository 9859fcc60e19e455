import { type HandlerCall, HandlerError } from "@harnesskit/ahp-server";
import { ApprovalError, type ApprovalRecord, type ApprovalRisk } from "@harnesskit/approvals";
import type { Explanation, PolicyHarness } from "@harnesskit/policy";
import type { AhpEventType } from "@harnesskit/protocol/ahp";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { RowDecision, RowState } from "@harnesskit/protocol/hub";
import { type Clock, HarnessError } from "@harnesskit/wire";
import type { HubLimits } from "../limits.ts";
import type { Recorder } from "../timeline/recorder.ts";
import { type ContentRules, rowContent, safeLine } from "../timeline/row-content.ts";
import type { NewRow, StoredContent, StoredRow } from "../timeline/timeline-store.ts";
import type { ApprovalDesk, Ruling } from "./approval-desk.ts";
import { rowApprovalOf } from "./approval-row.ts";
import { approvedDecision, deferredDecision, refusedDecision, ticketText } from "./decisions.ts";
import {
  type AnyEvent,
  actionKey,
  type EventFacts,
  outcomeOf,
  readEvent,
  snapshotKey,
  subjectOf,
} from "./read-event.ts";

export interface SupervisorOptions {
  readonly policy: PolicyHarness;
  readonly desk: ApprovalDesk;
  readonly recorder: Recorder;
  readonly limits: HubLimits;
  readonly content: ContentRules;
  readonly clock: Clock;
  /** What a human should know about the danger of an action. */
  readonly riskOf: (event: AnyEvent, explanation: Explanation) => ApprovalRisk;
  readonly onError: (error: unknown) => void;
}

interface Call extends Pick<HandlerCall, "batchIndex"> {
  /** Each aborts when the agent waits no more. */
  readonly signals: () => readonly AbortSignal[];
}
/** The target of an escalation to the user who sits at the agent. */
const terminalTarget = "terminal";

type Word = {
  readonly escalation_target?: string;
  readonly decision: string;
  readonly reason?: string;
  readonly modified_payload?: unknown;
};

const noApproval = (error: unknown): string =>
  ApprovalError.isInstance(error) && error.code === "store_full"
    ? "the inbox is full"
    : `the approval could not be kept (${HarnessError.isInstance(error) ? error.code : "failed"})`;

/** The rule's own words, without its name, which stands beside them; what matched, where it has none. */
const reasonOf = ({ decided, rule, source, why }: Explanation, made?: Word): string => {
  const reason = made?.reason ?? (decided as Word | undefined)?.reason ?? why;
  const named = ` (${source === "limit" ? "limit" : "rule"} ${rule})`;
  const words = reason.endsWith(named) ? reason.slice(0, -named.length) : reason;
  return words.slice(0, 4000);
};

/** Types whose allowed event has an outcome: an action. */
const hasOutcome = (type: AhpEventType): boolean => type === "pre_action";

/** Decides each event by policy or by a human, and records what was decided and what came of it. */
export class Supervisor {
  readonly #options: SupervisorOptions;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** The decision about a blocking event. Throws `HandlerError` `not_supported`, and the errors of the timeline's store. */
  async decide(event: AnyEvent, call: Call): Promise<unknown> {
    const { policy } = this.#options;
    const facts = readEvent(event);
    const explanation = policy.decide(event as Parameters<PolicyHarness["decide"]>[0]);
    const made = explanation.decision as Word | undefined;
    // The agent asks its own user where the policy wants that and the agent can.
    const isLeft = made?.escalation_target === terminalTarget && facts.metadata.host_asks === true;
    const isAsked =
      (made?.decision === "escalate" && !isLeft) ||
      (made === undefined && event.event_type === "confirmation");
    if (isAsked) return this.#escalate(event, facts, explanation, call);
    // As with an audit log, no decision of a policy waits for the disk.
    await this.#record(event, facts, explanation, made);
    if (made !== undefined) return made;
    throw new HandlerError(`Capability not supported: ${event.event_type}`, { code: "not_supported" });
  }

  /** Records a notification; an action's outcome closes its row. */
  async note(event: AnyEvent): Promise<void> {
    const { recorder } = this.#options;
    const type = event.event_type;
    if (type === "heartbeat") return;
    const facts = readEvent(event);
    // The policy's limits count what has ended, too.
    this.#options.policy.decide(event as Parameters<PolicyHarness["decide"]>[0]);
    if (type === "post_action") return this.#close(event, facts);
    const row = this.#row(event, facts, type === "error" ? "failed" : "noted");
    const content = this.#content(event);
    const key = snapshotKey(type, facts);
    if (type === "session_end") {
      const { agent, session } = facts;
      await recorder.note({
        type: "lose",
        of: { agent, session },
        outcome: "the session ended without an outcome",
      });
    }
    if (key === undefined) return recorder.note({ type: "add", row, content });
    // A snapshot replaces the one before; the row keeps its time.
    return recorder.note({
      type: "change",
      find: { key },
      apply: ({ row: { atMs } }) => ({ row: { ...row, atMs }, content }),
      orAdd: { key, row, content },
    });
  }

  async #escalate(
    event: AnyEvent,
    facts: EventFacts,
    explanation: Explanation,
    call: Call,
  ): Promise<unknown> {
    const { desk, policy, clock } = this.#options;
    const type = event.event_type;
    const startedMs = clock.now();
    const asked = policy.policy;
    let record: ApprovalRecord;
    try {
      record = await desk.ask(this.#question(event, facts, explanation));
    } catch (error) {
      this.#options.onError(error);
      const reason = `${explanation.why}; ${noApproval(error)}, so it does not happen`;
      const refused = refusedDecision(type, reason);
      await this.#record(event, facts, explanation, refused as Word);
      return refused;
    }
    await this.#recordQuestion(event, facts, explanation, record);
    const waitMs = this.#holdMs(facts, call) - (clock.now() - startedMs);
    const ruling = await desk.settle(record, waitMs, call.signals());
    if (ruling.ruling === "approved" && policy.policy !== asked) {
      // An answer does not outlive its policy.
      const again = policy.decide(event as Parameters<PolicyHarness["decide"]>[0]).decision as
        | Word
        | undefined;
      if (again?.decision !== "escalate" && again?.decision !== "allow") {
        await desk.report(ruling.record.id, "failed", "the policy changed and refuses it now");
        return again ?? refusedDecision(type, "the policy changed and does not decide this any more");
      }
    }
    return this.#answer(type, facts, ruling, explanation);
  }

  async #answer(
    type: AhpEventType,
    facts: EventFacts,
    ruling: Ruling,
    { rule }: Explanation,
  ): Promise<unknown> {
    const { desk, limits, policy } = this.#options;
    const { record } = ruling;
    switch (ruling.ruling) {
      case "approved":
        // The answer itself is all that comes of it.
        if (!hasOutcome(type)) await desk.report(record.id, "done", "the answer was given to the agent");
        return approvedDecision(type, record, { policy: policy.policy.name, rule });
      case "rejected": {
        const { answer } = record;
        const note = answer?.note === undefined ? "" : `: ${answer.note}`;
        return refusedDecision(type, `refused by ${answer?.by ?? "a human"}${note}`, record);
      }
      case "void":
        return refusedDecision(type, `approval ${record.id}: ${ruling.why}`, record);
      case "pending":
        return facts.waitMs === 0 || type === "confirmation"
          ? refusedDecision(type, ticketText(record), record)
          : deferredDecision(record, limits.retryAfterMs);
    }
  }

  /** How long a question may be held for this agent. */
  #holdMs({ waitMs }: EventFacts, { batchIndex }: Call): number {
    const { limits, desk } = this.#options;
    if (batchIndex !== undefined || desk.held >= limits.maxHeld) return 0;
    if (waitMs === undefined) return limits.holdMs;
    const longest = Math.min(waitMs, limits.maxHoldMs);
    return Math.max(longest - limits.deadlineMarginMs, Math.floor(longest / 2));
  }

  #question(event: AnyEvent, facts: EventFacts, explanation: Explanation) {
    const { agent, session, callId, turn } = facts;
    return {
      origin: {
        agent,
        session,
        ...(callId !== undefined && { callId }),
        ...(turn !== undefined && { correlationId: turn }),
      },
      subject: subjectOf(event.event_type, facts),
      risk: this.#options.riskOf(event, explanation),
      rule: {
        id: explanation.rule ?? explanation.source,
        reason: reasonOf(explanation) || "the policy asks a human",
      },
    };
  }

  #row(event: AnyEvent, facts: EventFacts, state: RowState): NewRow {
    const { agent, session, turn, callId, tool, summary } = facts;
    return {
      type: event.event_type,
      atMs: this.#options.clock.now(),
      agent,
      session,
      ...(turn !== undefined && { turn }),
      ...(callId !== undefined && { callId }),
      depth: event.depth,
      ...(tool !== undefined && { tool }),
      summary: safeLine(summary),
      state,
    };
  }

  #content(event: AnyEvent, explanation?: Explanation, modified?: unknown): StoredContent {
    const { content } = this.#options;
    return {
      event: rowContent(event, content),
      ...(modified !== undefined && { modifiedInput: rowContent(modified, content) }),
      ...(explanation !== undefined && {
        explanation: {
          why: explanation.why,
          shadowed: explanation.shadowed.map(({ rule, decision }) => ({ rule, decision })),
        },
      }),
    };
  }

  #decisionOf(explanation: Explanation, made: Word | undefined): RowDecision {
    const { source, rule, mode } = explanation;
    const reason = reasonOf(explanation, made);
    return {
      decision: made?.decision ?? "not supported",
      source,
      ...(rule !== undefined && { rule }),
      ...(reason !== "" && { reason }),
      ...(mode === "shadow" && { mode }),
    };
  }

  #record(
    event: AnyEvent,
    facts: EventFacts,
    explanation: Explanation,
    made: Word | undefined,
  ): Promise<void> | undefined {
    const { event_type: type } = event;
    const goesOn =
      made !== undefined &&
      ["allow", "modify", "approve", "refine", "retry", "queue"].includes(made.decision);
    const state = goesOn ? (hasOutcome(type) ? "running" : "noted") : "refused";
    const { recorder } = this.#options;
    const row = { ...this.#row(event, facts, state), decision: this.#decisionOf(explanation, made) };
    const content = this.#content(event, explanation, made?.modified_payload);
    return recorder.note({ type: "add", ...(hasOutcome(type) && { key: actionKey(facts) }), row, content });
  }

  /** The row of a question: the one of the first call, for a repeated one. */
  async #recordQuestion(
    event: AnyEvent,
    facts: EventFacts,
    explanation: Explanation,
    record: ApprovalRecord,
  ): Promise<void> {
    const { recorder } = this.#options;
    const key = hasOutcome(event.event_type) ? { key: actionKey(facts) } : {};
    const decision = this.#decisionOf(explanation, { decision: "escalate" });
    const row = { ...this.#row(event, facts, "waiting"), decision, approval: rowApprovalOf(record) };
    await recorder.write({
      type: "change",
      find: { approvalId: record.id },
      ...key,
      // A repeated call may have another id: its outcome finds the row by that.
      apply: () => (hasOutcome(event.event_type) ? {} : undefined),
      orAdd: { ...key, row, content: this.#content(event, explanation) },
    });
  }

  async #close(event: AnyEvent, facts: EventFacts): Promise<void> {
    const { recorder, desk, clock, content: rules } = this.#options;
    const { payload } = facts;
    const { state, text } = outcomeOf(facts);
    const output = payload.result ?? payload.output;
    const error = payload.error ?? undefined;
    const nowMs = clock.now();
    const said = typeof payload.duration_ms === "number" ? Math.round(payload.duration_ms) : -1;
    const ending = (row: Pick<NewRow, "atMs">): Partial<NewRow> => ({
      state,
      endedAtMs: nowMs,
      // A row that its schema refuses would make its whole page unreadable.
      durationMs: Number.isSafeInteger(said) && said >= 0 ? said : Math.max(0, nowMs - row.atMs),
      ...(text !== undefined && { outcome: safeLine(text) }),
    });
    const outcomeContent: Partial<StoredContent> = {
      ...(output !== undefined && { output: rowContent(output, rules) }),
      ...(error !== undefined && { error: errorOf(error, payload.code) }),
    };
    const row = this.#row(event, facts, state);
    let unneeded: string | undefined;
    const change = {
      type: "change",
      find: { key: actionKey(facts) },
      apply: (stored: StoredRow) => {
        if (payload.outcome === "cancelled") unneeded = stored.row.approval?.id;
        return { row: ending(stored.row), content: { ...stored.content, ...outcomeContent } };
      },
      orAdd: { row: { ...row, ...ending(row) }, content: { ...this.#content(event), ...outcomeContent } },
    } as const;
    // The hub reports the outcome to the approval of the row, if it has one.
    if (payload.outcome !== "cancelled") return recorder.note(change);
    await recorder.write(change);
    if (unneeded !== undefined) await desk.withdraw(unneeded, facts.agent, "the call was cancelled");
  }
}

const errorOf = (error: JsonValue, code: JsonValue | undefined): { message: string; code?: string } => {
  const message = typeof error === "string" ? error : JSON.stringify(error);
  return { message: safeLine(message, 4000), ...(typeof code === "string" && { code: code.slice(0, 200) }) };
};
