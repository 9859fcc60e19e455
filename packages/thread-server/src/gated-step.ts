import { displayText, HarnessError } from "@harnesskit/wire";
import { decided, decisionSpan, traced } from "@harnesskit/wire/trace";
import { type ApprovalAnswer, type AskedAction, isAllowed, type PendingQuestion } from "./approval-answer.ts";
import { findGrant } from "./find-grant.ts";
import type { FinalVerdict, ItemJudgement, Judgement, Modification, ModifyVerdict } from "./gates.ts";
import { ask, askAgain } from "./question.ts";
import type { Turn } from "./turn.ts";

/** How often a gate may change one call or prompt before it is blocked. */
const maxModifications = 3;

type Verdict<Change> = FinalVerdict | ModifyVerdict<Change>;

/** What a gate said of a subject, perhaps after changes of its own. */
export interface Judged<Subject, Requested> {
  readonly subject: Subject;
  /** What the gate has changed so far, and how often. */
  readonly modified?: Modification<Requested> | undefined;
  readonly changes: number;
  readonly verdict: FinalVerdict;
  /** What the subject's item says of it. */
  readonly said: { readonly judgement?: ItemJudgement<Requested> };
}

/** A subject that the gate may have changed before. */
type Considered<Subject, Requested> = Pick<Judged<Subject, Requested>, "subject" | "modified"> & {
  readonly changes?: number;
};

export interface Refusal {
  readonly status: "blocked" | "rejected" | "failed";
  readonly code: string;
  readonly error: string;
}

/**
 * Whether it happens. `judged` is what the gate said last; undefined for what a human refused after a restart, before the gate has judged
 * it again. `approvedBy` is the approval that a human gave, now or for always; `approver` who gave it.
 */
export type Decision<Subject, Requested> =
  | {
      readonly refused: Refusal;
      readonly judged?: Judged<Subject, Requested> | undefined;
      readonly approvedBy?: undefined;
      readonly approver?: undefined;
    }
  | {
      readonly refused?: undefined;
      readonly judged: Judged<Subject, Requested>;
      readonly approvedBy?: string;
      readonly approver?: string;
    };

/** What a human was shown, and who allowed it. */
type Shown = Pick<AskedAction, "digest" | "preview"> & {
  readonly requestId: string;
  readonly approver: string;
};

/** Runs before each question, with what it asks about. */
type OnAsk<Subject, Requested> = (judged: Judged<Subject, Requested>) => Promise<void>;

/**
 * The one way to an action, a tool call or a prompt: the gate judges it, again after each change; a human is asked where the gate says so,
 * unless a grant answers; what a human allowed is judged once more before it happens. What cannot be judged is refused.
 */
export abstract class GatedStep<Subject, Change, Requested> {
  constructor(
    protected readonly turn: Turn,
    readonly noun: "call" | "prompt",
    readonly texts: { readonly notJudged: string; readonly tooManyChanges: string; readonly changed: string },
  ) {}

  /** Asks the gate. */
  protected abstract before(subject: Subject): Verdict<Change> | Promise<Verdict<Change>>;

  /** The subject as the gate changed it, or why it cannot be that. */
  protected abstract change(subject: Subject, change: Change): Promise<Subject | { readonly unfit: string }>;

  /** What was requested, as an item keeps it beside a change. */
  protected abstract requested(subject: Subject): Requested;

  /** What a human is asked. */
  protected abstract question(subject: Subject): AskedAction;

  /** Asks the gate, again after each change that it makes; those that it made before count, too. A gate that cannot answer blocks. */
  protected async judge(first: Considered<Subject, Requested>): Promise<Judged<Subject, Requested>> {
    const { noun, texts } = this;
    const { onError } = this.turn.settings;
    let { subject, modified, changes = 0 } = first;
    const end = (verdict: FinalVerdict): Judged<Subject, Requested> => {
      const { verdict: decision, judgement = modified && { by: modified.by ?? "the gate" } } = verdict;
      const said = judgement && { judgement: { decision, ...judgement, modified } };
      return { subject, modified, changes, verdict, said: said ?? {} };
    };
    const block = (reason: string, code: string, judgement?: Judgement) =>
      end({ verdict: "block", reason, code, judgement });
    for (; ; changes++) {
      let verdict: Verdict<Change>;
      try {
        verdict = await this.#askGate(subject);
      } catch (error) {
        onError(error);
        return block(texts.notJudged, "gate_failed");
      }
      if (verdict.verdict !== "modify") return end(verdict);
      const { judgement, reason } = verdict;
      if (changes >= maxModifications) {
        onError(new HarnessError("gate_failed", `the gate changes the ${noun} again and again`));
        return block(texts.tooManyChanges, "gate_failed", judgement);
      }
      const next = await this.change(subject, verdict);
      if (isUnfit(next)) return block(next.unfit, "gate.invalid_input", judgement);
      const { requested } = modified ?? { requested: this.requested(subject) };
      modified = { ...judgement, reason: reason ?? judgement?.reason, requested };
      subject = next;
    }
  }

  /**
   * Asks a human where the gate says so and no grant answers. What a human allowed, the gate judges again: see `#confirm`.
   *
   * @param onAsk runs before each question, with what it asks about
   */
  protected async decide(
    judged: Judged<Subject, Requested>,
    onAsk: OnAsk<Subject, Requested> = async () => {},
  ): Promise<Decision<Subject, Requested>> {
    const { verdict } = judged;
    if (verdict.verdict === "block") return { judged, refused: this.#blocked(verdict) };
    return verdict.verdict === "allow" ? { judged } : this.#ask(judged, verdict.reason, onAsk);
  }

  /**
   * Goes on with a question of an earlier server.
   *
   * @param verify whether what would happen is still what was shown
   * @param first what the gate judges after the answer
   * @param onAsk runs before each further question, with what it asks about
   */
  protected async decideAgain(
    question: PendingQuestion,
    verify: () => Promise<boolean>,
    first: () => Promise<Considered<Subject, Requested>>,
    onAsk: OnAsk<Subject, Requested> = async () => {},
  ): Promise<Decision<Subject, Requested>> {
    const answer = await askAgain(this.turn, question, verify);
    if (!isAllowed(answer)) return { refused: this.#refusal(answer) };
    const { requestId, metadata } = question.data;
    return this.#confirm(await first(), { ...metadata, requestId, approver: answer.resolvedBy }, onAsk);
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

  async #ask(
    judged: Judged<Subject, Requested>,
    reason: string | undefined,
    onAsk: OnAsk<Subject, Requested>,
  ): Promise<Decision<Subject, Requested>> {
    const { observed, settings } = this.turn;
    const question = this.question(judged.subject);
    const call = { ...question, tool: question.permission };
    const grant = await findGrant(settings.store, observed, call, settings.startOf);
    if (grant) return { judged, approvedBy: grant.requestId, approver: grant.grantedBy };
    await onAsk(judged);
    const { requestId, answer } = await ask(this.turn, question, reason);
    if (!isAllowed(answer)) return { judged, refused: this.#refusal(answer) };
    return this.#confirm(judged, { ...question, requestId, approver: answer.resolvedBy }, onAsk);
  }

  /**
   * Asks the gate again about what a human was shown and allowed: its policy may have changed meanwhile. Its block wins,
   * and its question has been answered. What it changes is not what was allowed, so the human is asked about that.
   */
  async #confirm(
    first: Considered<Subject, Requested>,
    { requestId, approver, digest, preview }: Shown,
    onAsk: OnAsk<Subject, Requested>,
  ): Promise<Decision<Subject, Requested>> {
    const judged = await this.judge(first);
    const { verdict, subject } = judged;
    if (verdict.verdict === "block") return { judged, refused: this.#blocked(verdict) };
    const now = this.question(subject);
    if (now.digest === digest && now.preview === preview) return { judged, approvedBy: requestId, approver };
    return this.#ask(judged, verdict.verdict === "ask" ? verdict.reason : this.texts.changed, onAsk);
  }

  get #prefix(): string {
    return this.noun === "call" ? "tool" : "prompt";
  }

  #blocked({ reason, code, isRejection }: FinalVerdict & { verdict: "block" }): Refusal {
    const status = isRejection ? "rejected" : "blocked";
    return { status, code: code ?? `${this.#prefix}.${status}`, error: reason };
  }

  /** Rejected by a client, expired, no user to ask, and changed since are four different codes. */
  #refusal({ reason, note, resolvedBy }: ApprovalAnswer): Refusal {
    const { noun } = this;
    const rejected = (code: string, error: string): Refusal => ({ status: "rejected", code, error });
    if (reason === undefined) {
      const why = note === undefined ? "." : `: ${displayText(note)}`;
      const by = displayText(resolvedBy);
      return rejected(`${this.#prefix}.rejected`, `This ${noun} was rejected by ${by}${why}`);
    }
    if (reason === "expired") return rejected("approval.expired", `This ${noun} was not approved in time.`);
    if (reason === "unattended")
      return rejected("approval.unattended", `No user could be asked to approve this ${noun}.`);
    return { status: "failed", code: "approval.changed", error: this.texts.changed };
  }
}

const isUnfit = (next: unknown): next is { readonly unfit: string } =>
  typeof next === "object" && next !== null && "unfit" in next;
