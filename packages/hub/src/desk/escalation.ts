import {
  ApprovalError,
  ApprovalOriginSchema,
  type ApprovalRecord,
  type ApprovalRisk,
  type ApprovalSubject,
} from "@harnesskit/approvals";
import type { Explanation, PolicyHarness } from "@harnesskit/policy";
import type { AhpEventType } from "@harnesskit/protocol/ahp";
import { BufferFullError, type Clock, digest, HarnessError, joinKey } from "@harnesskit/wire";
import type { HubLimits } from "../limits.ts";
import type { ApprovalDesk, Ruling } from "./approval-desk.ts";
import type { Askers } from "./askers.ts";
import { approvedDecision, deferredDecision, refusedDecision, ticketText } from "./decisions.ts";
import { type EventLog, hasOutcome } from "./event-log.ts";
import { reasonOf, type Word } from "./event-row.ts";
import { HeldQuestions } from "./held-questions.ts";
import type { Asker, QuestionBudget } from "./question-budget.ts";
import type { AnyEvent, EventFacts } from "./read-event.ts";
import { subjectOf } from "./subject.ts";

export interface EscalationOptions {
  readonly policy: PolicyHarness;
  readonly desk: ApprovalDesk;
  readonly askers: Askers;
  readonly log: EventLog;
  readonly budget: QuestionBudget;
  readonly limits: HubLimits;
  readonly clock: Clock;
  /** What a human should know about the danger of an action. */
  readonly riskOf: (event: AnyEvent, explanation: Explanation) => ApprovalRisk;
  readonly onError: (error: unknown) => void;
}

/** Who asks, and how long it waits. */
export interface AskingCall {
  readonly asker: () => Asker;
  /** The place in a batch: such a call does not wait. */
  readonly batchIndex: number | undefined;
  /** Each aborts when the agent waits no more: for this call, and for any on its connection. */
  readonly signals: () => readonly [call: AbortSignal, link: AbortSignal];
}

/** The workspace, where it can be shown whole. */
const directoryOf = ({ metadata: { workspace } }: EventFacts) => {
  const isShown =
    typeof workspace === "string" && ApprovalOriginSchema.shape.directory.safeParse(workspace).success;
  return isShown ? { directory: workspace } : {};
};

const whyNotAsked = (error: unknown): string => {
  if (BufferFullError.isInstance(error)) {
    return `this client has too many questions open: ${error.message}; a human must answer some first`;
  }
  if (ApprovalError.isInstance(error) && error.code === "store_full")
    return `the inbox is full: ${error.message}`;
  if (!HarnessError.isInstance(error)) return "the approval could not be kept (failed)";
  // The agent sent what cannot be asked about, and can mend it.
  const isOfAgent = ["invalid_argument", "too_large", "too_deep", "not_json"].includes(error.code);
  return isOfAgent
    ? `a human cannot be asked about it: ${error.message}`
    : `the approval could not be kept (${error.code})`;
};

/** A question on its way to the store. */
interface Question {
  readonly asker: Asker;
  readonly subject: ApprovalSubject;
  /** Names the same question of one session. */
  readonly question: string;
  /** Records of the same question for which other calls wait now. */
  readonly others: readonly string[];
}

/** Asks a human about an event, waits for the answer as long as the agent does, and hands it over once. */
export class Escalation {
  readonly #options: EscalationOptions;
  readonly #held = new HeldQuestions();

  constructor(options: EscalationOptions) {
    this.#options = options;
  }

  /** The decision. Where a store does not keep the question or its answer, the event is refused. */
  async decide(
    event: AnyEvent,
    facts: EventFacts,
    explanation: Explanation,
    call: AskingCall,
  ): Promise<unknown> {
    const { log, onError } = this.#options;
    try {
      return await this.#decide(event, facts, explanation, call);
    } catch (error) {
      onError(error);
      const reason = `${explanation.why}; ${whyNotAsked(error)}, so it does not happen`;
      const refused = refusedDecision(event.event_type, reason, undefined, error);
      await log.decided(event, facts, explanation, refused as Word);
      return refused;
    }
  }

  async #decide(
    event: AnyEvent,
    facts: EventFacts,
    explanation: Explanation,
    call: AskingCall,
  ): Promise<unknown> {
    const { desk, askers, policy, log, clock } = this.#options;
    const type = event.event_type;
    const startedMs = clock.elapsedMs();
    const asked = policy.policy;
    const { record, release } = await this.#ask(event, facts, explanation, call.asker());
    try {
      await log.asked(event, facts, explanation, record);
      const waitMs = this.#holdMs(facts, call) - (clock.elapsedMs() - startedMs);
      const signals = call.signals();
      askers.watch(record, signals);
      const ruling = await desk.settle(record, waitMs, signals);
      // An agent that was asked to repeat its call counts as present while its connection is open.
      if (!signals.some(({ aborted }) => aborted)) askers.watch(ruling.record, signals.slice(1));
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
    } finally {
      release();
    }
  }

  async #ask(
    event: AnyEvent,
    facts: EventFacts,
    explanation: Explanation,
    asker: Asker,
  ): Promise<{ readonly record: ApprovalRecord; readonly release: () => void }> {
    const { agent, session, callId } = facts;
    const subject = subjectOf(event.event_type, facts);
    const question = joinKey(agent, session, await digest(subject));
    return this.#held.hold(question, callId, (others) =>
      this.#put(event, facts, explanation, { asker, subject, question, others }),
    );
  }

  async #put(
    event: AnyEvent,
    facts: EventFacts,
    explanation: Explanation,
    { asker, subject, question, others }: Question,
  ): Promise<ApprovalRecord> {
    const { desk, budget, riskOf } = this.#options;
    const { agent, session, callId, turn, subagent } = facts;
    // The same calls at one time have a place each.
    const place = joinKey(question, String(others.length));
    const isNew = budget.take(asker, place);
    const origin = {
      agent,
      session,
      callId,
      correlationId: turn,
      subagent,
      ...directoryOf(facts),
    };
    const rule = {
      id: explanation.rule ?? explanation.source,
      reason: reasonOf(explanation) || "the policy asks a human",
    };
    try {
      const record = await desk.ask({ origin, subject, risk: riskOf(event, explanation), rule }, others);
      budget.asked(place, record);
      return record;
    } catch (error) {
      if (isNew) budget.release(place);
      throw error;
    }
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
  #holdMs({ waitMs }: EventFacts, { batchIndex }: AskingCall): number {
    const { limits, desk } = this.#options;
    if (batchIndex !== undefined || desk.held >= limits.maxHeld) return 0;
    if (waitMs === undefined) return limits.holdMs;
    const longest = Math.min(waitMs, limits.maxHoldMs);
    return Math.max(longest - limits.deadlineMarginMs, Math.floor(longest / 2));
  }
}
