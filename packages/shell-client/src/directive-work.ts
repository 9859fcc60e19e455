import {
  type ActionDirective,
  type Continuation,
  ContinuationSchema,
  fallbackTextOf,
  misfitTextOf,
} from "@harnesskit/protocol/openharness";
import { displayText } from "@harnesskit/wire";
import type { Lane } from "@harnesskit/wire/rpc";
import { settleWithin } from "@harnesskit/wire/time";
import { type Answer, type Asked, askUser, directiveDigest, toEpochMs } from "./ask-user.ts";
import type { ClientParts } from "./client-parts.ts";
import { riskOf } from "./risk.ts";
import type { ApprovalAsk, DirectiveExecutor } from "./shell-client-options.ts";
import type {
  DirectiveErrorCode,
  DirectiveOutcome,
  DirectiveResult,
  PendingApproval,
  ShellDiagnostic,
} from "./shell-outcome.ts";

/** One directive where it is. */
export interface Item {
  readonly directive: ActionDirective;
  readonly index: number;
  readonly requestId: string;
  /** Where it is not valid; undefined where it is. */
  readonly invalidAt: string | undefined;
  /** When its deadline is over, by `elapsedMs` of the clock. */
  readonly dueMs: number | undefined;
  /** Aborts when the call is given up. */
  readonly signal: AbortSignal;
  /** Asks one question at a time. */
  readonly questions: Lane;
  /** Whether something before it ended the work. Looked at again after each wait. */
  readonly isStopped: () => boolean;
  /** Called on a refusal, before the next question. */
  readonly onRefusal: () => void;
  /** What answers a question that says nothing of it. */
  readonly continuation: Continuation | undefined;
}

/** A question of the engine, and what the user said to it. */
export interface Questioned {
  /** Undefined where the engine gave nothing to answer it with. */
  readonly pending: PendingApproval | undefined;
  readonly answer: Answer | undefined;
}

export interface Worked {
  readonly result: DirectiveResult;
  readonly question?: Questioned | undefined;
}

const end = (
  { directive, index, requestId }: Item,
  outcome: DirectiveOutcome,
  code?: DirectiveErrorCode,
  message = "",
  cause?: unknown,
): DirectiveResult => ({
  directive,
  index,
  requestId,
  outcome,
  error: code ? { code, message, cause } : undefined,
});

/** What the user reads of a directive that needs approval, has no description, and cannot be asked about. */
const unaskedText = ({ action_type: type }: ActionDirective): string =>
  `The engine wants to do something that needs your approval (${displayText(type, { maxLength: 100 })}). This shell cannot ask for it: it was not done.`;

/** Judges directives, asks the user where that is required, and executes them. Never rejects. */
export class DirectiveWork {
  readonly #parts: ClientParts;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  async do(item: Item): Promise<Worked> {
    const { directive, invalidAt } = item;
    const isQuestion = directive.action_type === "request_approval" && invalidAt === undefined;
    const executor = this.#parts.executors.get(directive.action_type);
    const early = this.#ended(item);
    if (isQuestion && executor === undefined) return this.#question(item, early);
    if (early) return { result: early };
    if (invalidAt !== undefined) {
      return { result: await this.#misfit(item, "invalid_directive", `it is not valid: ${invalidAt}`) };
    }
    if (executor === undefined) return { result: await this.#skip(item) };
    if (!this.#fits(item)) return { result: await this.#misfit(item) };
    const result = (await this.#permission(item)) ?? (await this.#execute(item, executor));
    // An executor of one's own shows the question; what it is answered with stays at hand.
    const pending = isQuestion ? await this.#pending(item) : undefined;
    return { result, question: pending ? { pending, answer: undefined } : undefined };
  }

  /** The end of an item that is not to be begun any more. */
  #ended(item: Item): DirectiveResult | undefined {
    if (item.signal.aborted) return end(item, "not_reached", "cancelled", "the call was given up");
    if (item.isStopped()) return end(item, "not_reached", "stopped", "a directive before it was refused");
    if (this.#parts.clock.elapsedMs() >= (item.dueMs ?? Number.POSITIVE_INFINITY)) {
      return end(item, "expired", "deadline_exceeded", "its deadline was over before it began");
    }
    return undefined;
  }

  /** Whether the payload is one of its type; a type that is not registered takes any. */
  #fits({ directive }: Item): boolean {
    const { registry } = this.#parts;
    if (registry.get(directive.action_type) === undefined) return true;
    try {
      return registry.problemOf(directive) === undefined;
    } catch {
      // A schema that throws has not accepted it.
      return false;
    }
  }

  async #misfit(
    item: Item,
    code: "invalid_payload" | "invalid_directive" = "invalid_payload",
    message = "the payload does not fit its type",
  ): Promise<DirectiveResult> {
    this.#report(code, message, item);
    const result = end(item, "failed", code, message);
    return this.#instead(item, result, misfitTextOf(item.directive));
  }

  #report(code: ShellDiagnostic["code"], message: string, { directive, requestId }: Item): void {
    const actionType = displayText(directive.action_type, { maxLength: 200 });
    this.#parts.diagnose({ code, message, requestId, actionType });
  }

  async #skip(item: Item): Promise<DirectiveResult> {
    const message = "the shell does not know this type of action";
    this.#report("unknown_action_type", message, item);
    const result = end(item, "skipped_unknown", "unknown_action_type", message);
    return this.#instead(item, result, fallbackTextOf(item.directive));
  }

  /** Only shows the string that stands for the directive, where `render_message` runs without a question (section 11). */
  async #instead(item: Item, result: DirectiveResult, text: string | undefined): Promise<DirectiveResult> {
    const { executors, rules } = this.#parts;
    const show = executors.get("render_message");
    if (text === undefined || !show || rules.safe !== "run") return result;
    const payload = Object.freeze({ message: text, text });
    const directive = Object.freeze({
      action_type: "render_message",
      risk_tier: "safe" as const,
      payload: payload as { message: string; text: string },
    });
    const shown = await this.#execute({ ...item, directive }, show);
    return shown.outcome === "done" ? { ...result, shownInstead: text } : result;
  }

  /** What keeps an item from being carried out; undefined where it may be. */
  async #permission(item: Item): Promise<DirectiveResult | undefined> {
    const { registry, rules } = this.#parts;
    const { directive } = item;
    const riskTier = riskOf(directive, registry);
    const rule = rules[riskTier];
    if (rule === "refuse") {
      item.onRefusal();
      return end(item, "refused", "refused_by_policy", `the policy carries out nothing that is ${riskTier}`);
    }
    const isRequired = directive.requires_user_approval === true;
    if (!isRequired && rule === "run") return undefined;
    const why: ApprovalAsk["why"] = isRequired ? "directive" : "risk";
    return item.questions.run(async () => {
      // What was asked before it in the queue may have ended the work while it waited.
      const early = this.#ended(item);
      if (early) return early;
      const kept = this.#keptBy(item, await askUser({ ...item, riskTier, why }, this.#parts));
      if (kept?.outcome === "refused") item.onRefusal();
      if (kept?.error?.code !== "no_approver") return kept;
      return this.#instead(item, kept, misfitTextOf(item.directive) ?? unaskedText(item.directive));
    });
  }

  /** What an answer keeps from being carried out. */
  #keptBy(item: Item, answer: Asked): DirectiveResult | undefined {
    if (answer.decision !== undefined) {
      if (answer.decision === "approved") return this.#ended(item);
      return end(item, "refused", "refused_by_user", answer.reason ?? "the user said no");
    }
    const { code, message, cause } = answer.error;
    if (code === "cancelled") return end(item, "not_reached", code, message);
    return end(item, code === "deadline_exceeded" ? "expired" : "refused", code, message, cause);
  }

  async #execute(item: Item, executor: DirectiveExecutor): Promise<DirectiveResult> {
    const { clock, limits } = this.#parts;
    const { executorTimeoutMs } = limits;
    const { directive, index, requestId, dueMs, signal } = item;
    const deadlineAtMs = toEpochMs(dueMs, clock);
    const leftMs = (dueMs ?? Number.POSITIVE_INFINITY) - clock.elapsedMs();
    const run = (stop: AbortSignal) => executor(directive, { signal: stop, deadlineAtMs, requestId, index });
    const ended = await settleWithin(run, {
      clock,
      signal,
      name: "the executor",
      timeoutMs: Math.min(leftMs, executorTimeoutMs),
    });
    switch (ended.status) {
      case "done":
        return { ...end(item, "done"), ...(ended.value !== undefined && { value: ended.value }) };
      case "failed":
        return end(item, "failed", "executor_failed", "its executor threw", ended.error);
      case "cancelled":
        return end(item, "failed", "cancelled", "the call was given up while it was carried out");
      case "timed_out":
        return executorTimeoutMs <= leftMs
          ? end(item, "failed", "executor_timeout", `it took longer than ${executorTimeoutMs} ms`)
          : end(item, "expired", "deadline_exceeded", "its deadline was over before it was done");
    }
  }

  /** A question of the engine. One that is not answered now can be answered later, unless its time is over. */
  async #question(item: Item, early: DirectiveResult | undefined): Promise<Worked> {
    if (!this.#fits(item)) return { result: early ?? (await this.#misfit(item)) };
    const pending = await this.#pending(item);
    const open = { question: { pending, answer: undefined } };
    if (early) return { result: early, ...(early.outcome !== "expired" && open) };
    const { approve, answersApprovals, registry } = this.#parts;
    const later = pending ? { result: end(item, "pending"), ...open } : undefined;
    if (!answersApprovals || !approve) return later ?? { result: await this.#unanswerable(item) };
    const riskTier = riskOf(item.directive, registry);
    const asked = await item.questions.run(() => askUser({ ...item, riskTier, why: "engine" }, this.#parts));
    if (asked.decision !== undefined) {
      return { result: { ...end(item, "answered"), value: asked }, question: { pending, answer: asked } };
    }
    const { code, message, cause } = asked.error;
    switch (code) {
      case "deadline_exceeded":
        return { result: end(item, "expired", code, message) };
      case "cancelled":
        return { ...open, result: end(item, "not_reached", code, message) };
      case "approval_failed":
      case "approval_mismatch":
        return { ...open, result: end(item, "failed", code, message, cause) };
      default:
        return later ?? { result: await this.#unanswerable(item) };
    }
  }

  /** A question that cannot be kept for later, because nothing says how it is answered: the user reads it. */
  #unanswerable(item: Item): Promise<DirectiveResult> {
    const result = end(item, "failed", "no_continuation", "nothing says how the question is answered later");
    return this.#instead(item, result, misfitTextOf(item.directive));
  }

  async #pending({ directive, continuation: ofResponse }: Item): Promise<PendingApproval | undefined> {
    const continuation = ContinuationSchema.safeParse(directive.payload?.continuation).data ?? ofResponse;
    if (continuation === undefined) return undefined;
    try {
      return Object.freeze({ directive, digest: await directiveDigest(directive), continuation });
    } catch {
      // A directive without canonical JSON cannot be bound to.
      return undefined;
    }
  }
}
