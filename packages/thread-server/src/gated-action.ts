import { displayText, HarnessError } from "@harnesskit/wire";
import { decided, decisionSpan, traced } from "@harnesskit/wire/trace";
import { type ApprovalAnswer, type AskedAction, isAllowed, type QuestionItem } from "./approval-answer.ts";
import { findGrant } from "./find-grant.ts";
import type { FinalVerdict, ItemJudgement, Judgement, Modification, ModifyVerdict } from "./gates.ts";
import { ask, askAgain } from "./question.ts";
import type { Turn } from "./turn.ts";

/** How often a gate may change one call or prompt before it is blocked. */
const maxModifications = 3;

const notJudged = "The prompt could not be judged, so the agent does not get it.";

/** What is said of each. */
const words = {
  call: {
    prefix: "tool",
    notJudged: "The call could not be judged, so it does not run.",
    tooManyChanges: "It was to be changed again and again, so it does not run.",
    changed: "What would run is no longer what was shown.",
  },
  prompt: {
    prefix: "prompt",
    notJudged,
    tooManyChanges: notJudged,
    changed: "The agent would get another prompt than was shown.",
  },
};

type Verdict<Change> = FinalVerdict | ModifyVerdict<Change>;

/** What a gate said of a subject, perhaps after changes of its own. */
export interface Judged<Subject, Requested> extends Changed<Requested> {
  readonly subject: Subject;
  readonly verdict: FinalVerdict;
  /** What the subject's item says of it. */
  readonly judgement: ItemJudgement<Requested> | undefined;
}

/** What the gate has changed so far, and how often. */
interface Changed<Requested> {
  readonly modified?: Modification<Requested> | undefined;
  readonly changes?: number;
}

export interface Refusal {
  readonly status: "blocked" | "rejected" | "failed";
  readonly code: string;
  readonly error: string;
}

/** A human's approval, given now or for always. */
interface Approval {
  readonly id: string;
  readonly by: string;
}

/** Whether it happens. `judged` is what the gate said last; undefined for what a human refused after a restart, before that. */
export type Decision<Subject, Requested> =
  | { readonly refused: Refusal; readonly judged?: Judged<Subject, Requested>; readonly approval?: undefined }
  | {
      readonly refused?: undefined;
      readonly judged: Judged<Subject, Requested>;
      readonly approval?: Approval;
    };

/**
 * A call or a prompt on the one way to happen: the gate judges it, again after each change; a human is asked where the gate says so,
 * unless a grant answers; what a human allowed is judged once more before it happens. What cannot be judged is refused.
 */
export abstract class GatedAction<Subject, Change, Requested> {
  constructor(
    protected readonly turn: Turn,
    readonly noun: "call" | "prompt",
    /** The name of the tool that is called. */
    protected readonly tool?: string,
  ) {}

  /** Asks the gate. */
  protected abstract before(subject: Subject): Verdict<Change> | Promise<Verdict<Change>>;

  /** The subject as the gate changed it, or why it cannot be that. */
  protected abstract change(subject: Subject, change: Change): Promise<Subject | { readonly unfit: string }>;

  /** What was requested, as an item keeps it beside a change. */
  protected abstract requested(subject: Subject): Requested;

  /** What a human is asked. */
  protected abstract question(subject: Subject): AskedAction;

  /** Runs before each question, with what it asks about. */
  protected async onAsk(_judged: Judged<Subject, Requested>): Promise<void> {}

  /** Asks the gate, again after each change that it makes; those that it made before count, too. A gate that cannot answer blocks. */
  protected async judge(
    first: Subject,
    earlier: Changed<Requested> = {},
  ): Promise<Judged<Subject, Requested>> {
    const { noun, tool, turn } = this;
    let subject = first;
    let { modified, changes = 0 } = earlier;
    const end = (verdict: FinalVerdict): Judged<Subject, Requested> => {
      const { verdict: decision, judgement: said = modified && { by: modified.by ?? "the gate" } } = verdict;
      return { subject, modified, changes, verdict, judgement: said && { decision, ...said, modified } };
    };
    const block = (reason: string, code: string, judgement?: Judgement) =>
      end({ verdict: "block", reason, code, judgement });
    for (; ; changes++) {
      let verdict: Verdict<Change>;
      try {
        verdict = await this.#askGate(subject);
      } catch (error) {
        turn.onError(error, tool);
        return block(words[noun].notJudged, "gate_failed");
      }
      if (verdict.verdict !== "modify") return end(verdict);
      const { judgement, reason } = verdict;
      if (changes >= maxModifications) {
        turn.onError(new HarnessError("gate_failed", `the gate changes the ${noun} again and again`), tool);
        return block(words[noun].tooManyChanges, "gate_failed", judgement);
      }
      const next = await this.change(subject, verdict);
      if (isUnfit(next)) return block(next.unfit, "gate.invalid_input", judgement);
      const { requested } = modified ?? { requested: this.requested(subject) };
      modified = { ...judgement, reason: reason ?? judgement?.reason, requested };
      subject = next;
    }
  }

  /**
   * Asks a human where the gate says so and no grant answers. What a human allowed, the gate judges again: its policy may have changed
   * meanwhile. Its block wins, and its question has been answered. What it changes is not what was allowed, so the human is asked about that.
   *
   * @param shown what a human was shown and has allowed by now
   */
  protected async decide(
    first: Judged<Subject, Requested>,
    shown?: Pick<AskedAction, "digest" | "preview"> & { readonly approval: Approval },
  ): Promise<Decision<Subject, Requested>> {
    const { observed, settings } = this.turn;
    for (let judged = first, allowed = shown; ; ) {
      const { verdict, subject } = judged;
      if (verdict.verdict === "block") return { judged, refused: this.#blocked(verdict) };
      if (verdict.verdict === "allow" && !allowed) return { judged };
      const question = this.question(subject);
      if (allowed?.digest === question.digest && allowed.preview === question.preview)
        return { judged, approval: allowed.approval };
      const call = { ...question, tool: question.permission };
      const grant = await findGrant(settings.store, observed, call, settings.startOf);
      if (grant) return { judged, approval: { id: grant.requestId, by: grant.grantedBy } };
      await this.onAsk(judged);
      const reason = verdict.verdict === "ask" ? verdict.reason : words[this.noun].changed;
      const { requestId, answer } = await ask(this.turn, question, reason);
      if (!isAllowed(answer)) return { judged, refused: this.#refusal(answer) };
      allowed = { ...question, approval: { id: requestId, by: answer.resolvedBy } };
      judged = await this.judge(subject, judged);
    }
  }

  /**
   * Goes on with a question of an earlier server.
   *
   * @param prepare what the gate judges after the answer; undefined where what would happen is no longer what was shown
   */
  protected async decideAgain(
    item: QuestionItem,
    prepare: () => Promise<Subject | undefined>,
    modified?: Modification<Requested>,
  ): Promise<Decision<Subject, Requested>> {
    let subject: Subject | undefined;
    const verify = async () => {
      subject = await prepare();
      return subject !== undefined;
    };
    const answer = await askAgain(this.turn, item, verify);
    if (!isAllowed(answer) || subject === undefined) return { refused: this.#refusal(answer) };
    const { requestId, metadata } = item.data;
    const approval = { id: requestId, by: answer.resolvedBy };
    return this.decide(await this.judge(subject, { modified }), { ...metadata, approval });
  }

  #askGate(subject: Subject): Promise<Verdict<Change>> {
    const isCall = this.noun === "call";
    const start = () => {
      const { permission, input } = this.question(subject);
      const tool = isCall ? permission : undefined;
      const eventType = isCall ? "pre_action" : "pre_prompt";
      return decisionSpan("gate", { eventType, sessionId: this.turn.threadId, tool, input });
    };
    return traced(start, async (span) => {
      const verdict = await this.before(subject);
      span?.set(decided(verdict.verdict, verdict.judgement?.rule));
      return verdict;
    });
  }

  #blocked({ reason, code, isRejection }: FinalVerdict & { verdict: "block" }): Refusal {
    const status = isRejection ? "rejected" : "blocked";
    return { status, code: code ?? `${words[this.noun].prefix}.${status}`, error: reason };
  }

  /** Rejected by a client, expired, no user to ask, and changed since are four different codes. */
  #refusal({ reason, note, resolvedBy }: ApprovalAnswer): Refusal {
    const { noun } = this;
    const { prefix, changed } = words[noun];
    const rejected = (code: string, error: string): Refusal => ({ status: "rejected", code, error });
    if (reason === "expired") return rejected("approval.expired", `This ${noun} was not approved in time.`);
    if (reason === "unattended")
      return rejected("approval.unattended", `No user could be asked to approve this ${noun}.`);
    if (reason === "changed") return { status: "failed", code: "approval.changed", error: changed };
    const why = note === undefined ? "." : `: ${displayText(note)}`;
    return rejected(`${prefix}.rejected`, `This ${noun} was rejected by ${displayText(resolvedBy)}${why}`);
  }
}

const isUnfit = (next: unknown): next is { readonly unfit: string } =>
  typeof next === "object" && next !== null && "unfit" in next;
