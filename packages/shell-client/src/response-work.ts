import {
  type ActionDirective,
  ContinuationSchema,
  fallbackTextOf,
  misfitTextOf,
} from "@harnesskit/protocol/openharness";
import { displayText } from "@harnesskit/wire";
import { Lane } from "@harnesskit/wire/rpc";
import { settleWithin } from "@harnesskit/wire/time";
import { type Answer, type Asked, directiveDigest, readUserReply, undecided } from "./ask-user.ts";
import type { ClientParts } from "./client-parts.ts";
import { planOf } from "./plan.ts";
import type { Posted } from "./post-request.ts";
import { riskOf } from "./risk.ts";
import { continuationOf } from "./session-state.ts";
import { isParallelWith } from "./shell-capabilities.ts";
import type { ApprovalAsk, DirectiveExecutor } from "./shell-client-options.ts";
import type {
  DirectiveErrorCode,
  DirectiveOutcome,
  DirectiveResult,
  PendingApproval,
  ShellDiagnostic,
} from "./shell-outcome.ts";

/** One directive where it is. */
interface Item {
  readonly directive: ActionDirective;
  readonly index: number;
  /** When its deadline is over, by `elapsedMs` of the clock; Infinity without one. */
  readonly dueMs: number;
}

/** What became of a directive; of a question of the engine also what answers it later, and what the user said to it. */
export interface Worked {
  readonly result: DirectiveResult;
  readonly pending?: PendingApproval | undefined;
  readonly answer?: Answer | undefined;
}

type Misfit = Extract<ShellDiagnostic["code"] & DirectiveErrorCode, string>;

/** What the user reads of a directive that needs approval, has no description, and cannot be asked about. */
const unaskedText = ({ action_type: type }: ActionDirective): string =>
  `The engine wants to do something that needs your approval (${displayText(type, { maxLength: 100 })}). This shell cannot ask for it: it was not done.`;

/** The directives of one response: judged, asked about where that is required, and executed. */
export class ResponseWork {
  /** @param questions asks one question of a call at a time */
  constructor(
    readonly parts: ClientParts,
    readonly requestId: string,
    readonly posted: Posted,
    readonly signal: AbortSignal,
    readonly questions: Lane,
  ) {}

  /** Carries the directives out, group by group. Never rejects: each has its result, whatever became of the others. */
  async run(): Promise<Worked[]> {
    const { capabilities, limits, onResult } = this.parts;
    const { response, receivedMs } = this.posted;
    const directives = response.response.action_directives ?? [];
    const worked: Worked[] = [];
    const carryOut = async (index: number): Promise<void> => {
      const directive = directives[index] as ActionDirective;
      // Deadlines count from the response (section 10).
      const dueMs = receivedMs + (directive.deadline_ms ?? Number.POSITIVE_INFINITY);
      const done = await this.#do({ directive, index, dueMs });
      worked[index] = done;
      onResult(done.result);
    };
    for (const group of planOf(directives, isParallelWith(capabilities, response))) {
      const lane = new Lane(limits.maxParallel);
      await Promise.all(group.map((index) => lane.run(() => carryOut(index))));
    }
    return worked;
  }

  async #do(item: Item): Promise<Worked> {
    const { directive, index } = item;
    const isQuestion = directive.action_type === "request_approval";
    const executor = this.parts.executors.get(directive.action_type);
    const invalidAt = this.posted.invalid.get(index);
    const early = this.#ended(item);
    if (invalidAt !== undefined) {
      return {
        result: early ?? (await this.#misfit(item, "invalid_directive", `it is not valid: ${invalidAt}`)),
      };
    }
    if (!executor && !isQuestion) return { result: early ?? (await this.#unknown(item)) };
    if (!this.#fits(directive)) {
      const message = "the payload does not fit its type";
      return { result: early ?? (await this.#misfit(item, "invalid_payload", message)) };
    }
    const pending = isQuestion ? await this.#pending(directive) : undefined;
    if (early) return { result: early, pending: early.outcome === "expired" ? undefined : pending };
    if (!executor) return this.#question(item, pending);
    // An executor of one's own shows the question; what it is answered with stays at hand.
    return { result: (await this.#permission(item)) ?? (await this.#execute(item, executor)), pending };
  }

  #end(
    { directive, index }: Item,
    outcome: DirectiveOutcome,
    code?: DirectiveErrorCode,
    message = "",
    cause?: unknown,
  ): DirectiveResult {
    const error = code ? { code, message, cause } : undefined;
    return { directive, index, requestId: this.requestId, outcome, error };
  }

  /** The end of an item that is not to be begun any more. */
  #ended(item: Item): DirectiveResult | undefined {
    if (this.signal.aborted) return this.#end(item, "not_reached", "cancelled", "the call was given up");
    if (this.parts.clock.elapsedMs() < item.dueMs) return undefined;
    return this.#end(item, "expired", "deadline_exceeded", "its deadline was over before it began");
  }

  /** Whether the payload is one of its type; a type that is not registered takes any. */
  #fits(directive: ActionDirective): boolean {
    const { registry } = this.parts;
    if (registry.get(directive.action_type) === undefined) return true;
    try {
      return registry.problemOf(directive) === undefined;
    } catch {
      // A schema that throws has not accepted it.
      return false;
    }
  }

  #report(code: Misfit, message: string, { directive }: Item): void {
    const actionType = displayText(directive.action_type, { maxLength: 200 });
    this.parts.diagnose({ code, message, requestId: this.requestId, actionType });
  }

  #misfit(item: Item, code: Misfit, message: string): Promise<DirectiveResult> {
    this.#report(code, message, item);
    return this.#instead(this.#end(item, "failed", code, message), misfitTextOf(item.directive));
  }

  #unknown(item: Item): Promise<DirectiveResult> {
    const message = "the shell does not know this type of action";
    this.#report("unknown_action_type", message, item);
    const result = this.#end(item, "skipped_unknown", "unknown_action_type", message);
    return this.#instead(result, fallbackTextOf(item.directive));
  }

  /** Only shows the string that stands for the directive, where `render_message` runs without a question (section 11). */
  async #instead(result: DirectiveResult, text: string | undefined): Promise<DirectiveResult> {
    const { executors, rules } = this.parts;
    const show = executors.get("render_message");
    if (text === undefined || !show || rules.safe !== "run") return result;
    const payload: ActionDirective["payload"] = Object.freeze({ message: text, text });
    const directive = Object.freeze({ action_type: "render_message", risk_tier: "safe" as const, payload });
    const dueMs = Number.POSITIVE_INFINITY;
    const shown = await this.#execute({ directive, index: result.index, dueMs }, show);
    return shown.outcome === "done" ? { ...result, shownInstead: text } : result;
  }

  /** What keeps an item from being carried out; undefined where it may be. */
  async #permission(item: Item): Promise<DirectiveResult | undefined> {
    const { registry, rules } = this.parts;
    const { directive } = item;
    const riskTier = riskOf(directive, registry);
    const rule = rules[riskTier];
    if (rule === "refuse") {
      return this.#end(
        item,
        "refused",
        "refused_by_policy",
        `the policy carries out nothing that is ${riskTier}`,
      );
    }
    const isRequired = directive.requires_user_approval === true;
    if (!isRequired && rule === "run") return undefined;
    const asked = await this.#ask(item, isRequired ? "directive" : "risk");
    if (asked.decision !== undefined) {
      if (asked.decision === "approved") return undefined;
      return this.#end(item, "refused", "refused_by_user", asked.reason ?? "the user said no");
    }
    const { code, message, cause } = asked.error;
    if (code === "no_approver") {
      const text = misfitTextOf(directive) ?? unaskedText(directive);
      return this.#instead(this.#end(item, "refused", code, message), text);
    }
    if (code === "cancelled") return this.#end(item, "not_reached", code, message);
    return this.#end(item, code === "deadline_exceeded" ? "expired" : "refused", code, message, cause);
  }

  /** Asks the user in its turn. Never rejects; anything but a yes or a no leaves it undecided. */
  async #ask(item: Item, why: ApprovalAsk["why"]): Promise<Asked> {
    const { approve, limits, registry } = this.parts;
    if (approve === undefined) return undecided("no_approver", "this shell cannot ask its user");
    const { directive } = item;
    const riskTier = riskOf(directive, registry);
    const run = async (signal: AbortSignal, deadlineAtMs: number | undefined) => {
      const digest = await directiveDigest(directive);
      return readUserReply(await approve({ directive, digest, riskTier, why, signal, deadlineAtMs }), digest);
    };
    const ended = await this.questions.run(() => this.#within(item, limits.approvalTimeoutMs, run));
    switch (ended.status) {
      case "done":
        return ended.value;
      case "cancelled":
        return undecided("cancelled", "the call was given up");
      case "expired":
        return undecided("deadline_exceeded", "the deadline was over before there was an answer");
      case "timed_out":
        return undecided("not_answered", `there was no answer within ${limits.approvalTimeoutMs} ms`);
      case "failed":
        return undecided("approval_failed", "the user could not be asked", ended.error);
    }
  }

  async #execute(item: Item, executor: DirectiveExecutor): Promise<DirectiveResult> {
    const { directive, index } = item;
    const { requestId } = this;
    const { executorTimeoutMs } = this.parts.limits;
    const ended = await this.#within(item, executorTimeoutMs, (signal, deadlineAtMs) =>
      executor(directive, { signal, deadlineAtMs, requestId, index }),
    );
    switch (ended.status) {
      case "done":
        return { ...this.#end(item, "done"), value: ended.value };
      case "failed":
        return this.#end(item, "failed", "executor_failed", "its executor threw", ended.error);
      case "cancelled":
        return this.#end(item, "failed", "cancelled", "the call was given up while it was carried out");
      case "timed_out":
        return this.#end(item, "failed", "executor_timeout", `it took longer than ${executorTimeoutMs} ms`);
      case "expired":
        return this.#end(item, "expired", "deadline_exceeded", "its deadline was over before it was done");
    }
  }

  /** Runs within a limit and the deadline of the directive, and says which of both was over. */
  async #within<T>(
    { dueMs }: Item,
    limitMs: number,
    run: (signal: AbortSignal, deadlineAtMs: number | undefined) => T | PromiseLike<T>,
  ) {
    const { clock } = this.parts;
    const leftMs = dueMs - clock.elapsedMs();
    const deadlineAtMs = leftMs === Number.POSITIVE_INFINITY ? undefined : clock.now() + leftMs;
    const timeoutMs = Math.min(leftMs, limitMs);
    const options = { clock, signal: this.signal, name: "the directive", timeoutMs };
    const ended = await settleWithin((signal) => run(signal, deadlineAtMs), options);
    return ended.status === "timed_out" && leftMs < limitMs ? { status: "expired" as const } : ended;
  }

  /** A question of the engine. One that is not answered now can be answered later, unless its time is over. */
  async #question(item: Item, pending: PendingApproval | undefined): Promise<Worked> {
    const { approve, answersApprovals } = this.parts;
    if (approve && answersApprovals) {
      const asked = await this.#ask(item, "engine");
      if (asked.decision !== undefined) {
        return { result: { ...this.#end(item, "answered"), value: asked }, pending, answer: asked };
      }
      const { code, message, cause } = asked.error;
      if (code === "deadline_exceeded") return { result: this.#end(item, "expired", code, message) };
      if (code === "cancelled") return { result: this.#end(item, "not_reached", code, message), pending };
      if (code !== "not_answered")
        return { result: this.#end(item, "failed", code, message, cause), pending };
    }
    if (pending) return { result: this.#end(item, "pending"), pending };
    // Nothing says how it is answered later: the user reads it.
    const message = "nothing says how the question is answered later";
    const result = this.#end(item, "failed", "no_continuation", message);
    return { result: await this.#instead(result, misfitTextOf(item.directive)) };
  }

  async #pending(directive: ActionDirective): Promise<PendingApproval | undefined> {
    const own = ContinuationSchema.safeParse(directive.payload?.continuation).data;
    const continuation = own ?? continuationOf(this.posted.response);
    if (continuation === undefined) return undefined;
    try {
      return Object.freeze({ directive, digest: await directiveDigest(directive), continuation });
    } catch {
      // A directive without canonical JSON cannot be bound to.
      return undefined;
    }
  }
}
