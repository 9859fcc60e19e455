import type { Thread } from "@harnesskit/protocol/threads";
import { displayText, HarnessError } from "@harnesskit/wire";
import type { ActiveTurn } from "./active-turn.ts";
import type { ApprovalFlow, PendingQuestion, Question } from "./approval-flow.ts";
import { type ApprovalAnswer, isAllowed } from "./approvals.ts";
import { findGrant } from "./find-grant.ts";
import type { FinalVerdict, ItemJudgement, Judgement, Modification, ModifyVerdict } from "./gates.ts";
import type { ServerSettings } from "./server-settings.ts";

/** How often a gate may change one call or prompt before it is blocked. */
const maxModifications = 3;

export interface GatedStepOptions {
  readonly turn: ActiveTurn;
  readonly thread: Thread;
  readonly flow: ApprovalFlow;
  readonly settings: ServerSettings;
}

type Verdict<Change> = FinalVerdict | ModifyVerdict<Change>;

/** A kind of thing that a gate and a human judge before it happens: a tool call, or a prompt. */
export interface GatedKind<Subject, Change, Requested> {
  readonly noun: "call" | "prompt";
  /** Begins the codes of refusals: `tool.blocked`, `prompt.rejected`. */
  readonly prefix: "tool" | "prompt";
  readonly texts: { readonly notJudged: string; readonly tooManyChanges: string; readonly changed: string };
  /** Asks the gate. */
  before(subject: Subject): Verdict<Change> | Promise<Verdict<Change>>;
  /** The subject as the gate changed it, or why it cannot be that. */
  change(subject: Subject, change: Change): Promise<Subject | { readonly unfit: string }>;
  /** What was requested, as an item keeps it beside a change. */
  requested(subject: Subject): Requested;
  /** What a human is asked. */
  question(subject: Subject): Question;
}

/** What a gate said of a subject in the end, after its changes. */
export interface Judged<Subject, Requested> {
  readonly subject: Subject;
  readonly verdict: FinalVerdict;
  /** What the subject's item says of it. */
  readonly said: { readonly judgement?: ItemJudgement<Requested> };
}

export interface Refusal {
  readonly status: "blocked" | "rejected" | "failed";
  readonly code: string;
  readonly error: string;
}

/** Whether it happens. `approvedBy` is the approval that a human gave, now or for always. */
export type Decision =
  | { readonly refused: Refusal; readonly approvedBy?: undefined }
  | { readonly refused?: undefined; readonly approvedBy?: string };

/**
 * The one way to an action: the gate judges it, again after each change; a human is asked where the gate says so, unless
 * a grant answers; a question of an earlier server is answered and judged anew. What cannot be judged is refused.
 */
export class GatedStep<Subject, Change, Requested> {
  readonly #options: GatedStepOptions;
  readonly #kind: GatedKind<Subject, Change, Requested>;

  constructor(options: GatedStepOptions, kind: GatedKind<Subject, Change, Requested>) {
    this.#options = options;
    this.#kind = kind;
  }

  /** Asks the gate, again after each change that it makes. A gate that cannot answer blocks. */
  async judge(first: Subject): Promise<Judged<Subject, Requested>> {
    const { noun, texts } = this.#kind;
    const { onError } = this.#options.settings;
    let subject = first;
    let modified: Modification<Requested> | undefined;
    const end = (verdict: FinalVerdict): Judged<Subject, Requested> => {
      const { verdict: decision, judgement = modified && { by: modified.by ?? "the gate" } } = verdict;
      const said = judgement && { judgement: { decision, ...judgement, ...(modified && { modified }) } };
      return { subject, verdict, said: said ?? {} };
    };
    const block = (reason: string, code: string, judgement?: Judgement) =>
      end({ verdict: "block", reason, code, ...(judgement && { judgement }) });
    for (let changes = 0; ; changes++) {
      let verdict: Verdict<Change>;
      try {
        verdict = await this.#kind.before(subject);
      } catch (error) {
        onError(error);
        return block(texts.notJudged, "gate_failed");
      }
      if (verdict.verdict !== "modify") return end(verdict);
      const { judgement, reason } = verdict;
      if (changes === maxModifications) {
        onError(new HarnessError("gate_failed", `the gate changes the ${noun} again and again`));
        return block(texts.tooManyChanges, "gate_failed", judgement);
      }
      const next = await this.#kind.change(subject, verdict);
      if (isUnfit(next)) return block(next.unfit, "gate.invalid_input", judgement);
      const { requested } = modified ?? { requested: this.#kind.requested(first) };
      modified = { ...judgement, ...(reason !== undefined && { reason }), requested };
      subject = next;
    }
  }

  /** Asks a human where the gate says so and no grant answers; `beforeAsking` runs first then. */
  async decide(
    { subject, verdict }: Judged<Subject, Requested>,
    beforeAsking: () => Promise<void> = async () => {},
  ): Promise<Decision> {
    const { thread, flow, settings } = this.#options;
    if (verdict.verdict === "block") return { refused: this.#blocked(verdict) };
    if (verdict.verdict === "allow") return {};
    const question = this.#kind.question(subject);
    const grant = await findGrant(settings.store, thread, question);
    if (grant) return { approvedBy: grant.requestId };
    await beforeAsking();
    const { requestId, answer } = await flow.ask(question, verdict.reason);
    return isAllowed(answer) ? { approvedBy: requestId } : { refused: this.#refusal(answer) };
  }

  /**
   * Goes on with a question of an earlier server: waits for its answer, then asks the gate again, whose block wins. What
   * it asks has been answered; what it changes is not what was shown.
   *
   * @param verify whether what would happen is still what was shown
   * @param first what the gate judges then
   */
  async decideAgain(
    question: PendingQuestion,
    verify: () => Promise<boolean>,
    first: () => Promise<Subject>,
  ): Promise<Decision & { readonly judged?: Judged<Subject, Requested> }> {
    const { data } = question;
    const answer = await this.#options.flow.askAgain(question, verify);
    if (!isAllowed(answer)) return { refused: this.#refusal(answer) };
    const judged = await this.judge(await first());
    const { verdict, subject } = judged;
    if (verdict.verdict === "block") return { judged, refused: this.#blocked(verdict) };
    const isAsShown = this.#kind.question(subject).digest === data.metadata.digest;
    return isAsShown ? { judged, approvedBy: data.requestId } : { judged, refused: this.#changed() };
  }

  #blocked({ reason, code = `${this.#kind.prefix}.blocked` }: FinalVerdict & { verdict: "block" }): Refusal {
    return { status: "blocked", code, error: reason };
  }

  #changed(): Refusal {
    return { status: "failed", code: "approval.changed", error: this.#kind.texts.changed };
  }

  /** Rejected by a client, expired, no user to ask, and changed since are four different codes. */
  #refusal({ reason, resolvedBy }: ApprovalAnswer): Refusal {
    const { noun, prefix } = this.#kind;
    const rejected = (code: string, error: string): Refusal => ({ status: "rejected", code, error });
    switch (reason) {
      case undefined:
        return rejected(`${prefix}.rejected`, `This ${noun} was rejected by ${displayText(resolvedBy)}.`);
      case "expired":
        return rejected("approval.expired", `This ${noun} was not approved in time.`);
      case "unattended":
        return rejected("approval.unattended", `No user could be asked to approve this ${noun}.`);
      default:
        return this.#changed();
    }
  }
}

const isUnfit = (next: unknown): next is { readonly unfit: string } =>
  typeof next === "object" && next !== null && "unfit" in next;
