import { ConformanceError, messageOf, Unmet, Unreached, Unseen } from "../errors.ts";
import { match } from "../match/match.ts";
import { isOwnFault } from "../own-fault.ts";
import { checksOf, idsOf } from "../scenario/cited-ids.ts";
import type { Suite } from "../scenario/load-suite.ts";
import {
  type EachStep,
  type LeafStep,
  type Step,
  type UseStep,
  type Verb,
  verbOf,
} from "../scenario/step-schema.ts";
import type { ScenarioFile } from "../scenario/suite-schema.ts";
import { ask } from "./ask-step.ts";
import type { CheckResult } from "./check-result.ts";
import * as connection from "./connection-steps.ts";
import * as messages from "./message-steps.ts";
import { labelOf, shownError, shownMessages, shownValue } from "./shown-step.ts";
import { type DoStep, isMeant, type StepContext } from "./step-context.ts";

const { linkOf: _, ...messageVerbs } = messages;
const { doOperation, ...connectionVerbs } = connection;
type LeafVerb = Exclude<Verb, "each" | "use">;
const verbs: Readonly<Record<LeafVerb, DoStep>> = {
  ...messageVerbs,
  ...connectionVerbs,
  ask,
  do: doOperation,
};

/** What takes a message of the target: it has answered. */
const takes: readonly Verb[] = ["call", "ask", "receive", "gather", "post", "ping"];

export interface ScenarioRunOptions {
  readonly suite: Suite;
  readonly scenario: ScenarioFile;
  readonly context: StepContext;
  /** When the scenario has to be over, as `performance.now()` counts. */
  readonly dueAt: number;
  readonly signal: AbortSignal | undefined;
  /** Waits of an earlier attempt that were in vain, by the place of their step: they are not waited for again. */
  readonly missed: Map<string, string>;
  /** Why no step is done. */
  readonly leftOut: ConformanceError | undefined;
}

/** Why a step did not work, and whether that is its own fault. */
interface Failure {
  readonly reason: string;
  readonly isReached: boolean;
  /** Whether the step cannot be done with this kind of target. */
  readonly isUnseen?: boolean | undefined;
}

/** Does the steps of one scenario and collects its checks. */
export class ScenarioRun {
  readonly checks: CheckResult[] = [];
  /** Steps without checks that were not met. */
  readonly problems: string[] = [];
  /** Why nothing more can be done: the target is not there, waits were in vain, or the time is over. */
  stopped: ConformanceError | undefined;
  /** Why nothing more can be seen of this target: it could not be started again. */
  #blind: Failure | undefined;
  readonly #options: ScenarioRunOptions;
  readonly #context: StepContext;
  /** The steps that set a value, or failed to, by its name. */
  readonly #origins = new Map<string, string>();
  /** The steps that found a connection ended, by its name. */
  readonly #ends = new Map<string, string>();
  /** The elements of the `each` around a step. */
  readonly #elements: string[] = [];
  /** Steps of an `each` that waited in vain: for its other elements they wait less. */
  readonly #vain = new Set<string>();
  #vainWaits = 0;

  constructor(options: ScenarioRunOptions) {
    this.#options = options;
    this.#context = options.context;
    this.stopped = options.leftOut;
  }

  async run(): Promise<void> {
    await this.#runAll(this.#options.scenario.steps, "");
    this.#judgeAllMessages();
  }

  async #runAll(steps: readonly Step[], prefix: string): Promise<void> {
    for (const [index, step] of steps.entries()) {
      if (!isMeant(step, this.#context)) continue;
      const place = `${prefix}${index + 1}`;
      const verb = verbOf(step);
      if (verb === "each") await this.#runEach(step as EachStep, place);
      else if (verb === "use") await this.#runFragment(step as UseStep, place);
      else await this.#runLeaf(verb as LeafVerb, step as LeafStep, place);
    }
  }

  async #runEach(step: EachStep, place: string): Promise<void> {
    let list: unknown;
    try {
      list = this.#context.scope.resolve(step.each);
    } catch (error) {
      this.#origins.set(step.as, this.#originOf(error));
    }
    // Where the list did not come, the checks inside are reported once.
    for (const [index, element] of (Array.isArray(list) ? (list as unknown[]) : [undefined]).entries()) {
      this.#context.scope.set(step.as, element);
      this.#elements.push(`, ${step.as} ${shownValue(element, 120)}`);
      await this.#runAll(step.steps, `${place}[${index + 1}].`);
      this.#elements.pop();
    }
  }

  async #runFragment(step: UseStep, place: string): Promise<void> {
    const { fragments } = this.#options.suite;
    for (const [name, value] of Object.entries(step.with ?? {})) {
      try {
        this.#context.scope.set(name, this.#context.scope.resolve(value));
      } catch (error) {
        this.#context.scope.forget(name);
        this.#origins.set(name, this.#originOf(error));
      }
    }
    const steps = fragments[step.use];
    if (steps === undefined)
      throw new ConformanceError("invalid_scenario", `there is no fragment ${step.use}`);
    await this.#runAll(steps, `${place}.`);
  }

  #originOf(error: unknown): string {
    if (!Unreached.isInstance(error)) return messageOf(error);
    return this.#origins.get(error.missing) ?? error.message;
  }

  /** Counts the waits that took their whole time: a target that answers nothing is not asked everything. */
  #countWait(place: string, reason: string): void {
    const { missed } = this.#options;
    missed.set(place, reason);
    this.#vainWaits += 1;
    this.#context.hasWaited = true;
    const { maxUnmetWaits } = this.#context.limits;
    // A target that has not answered at all is not asked everything: one that is silent once, one that only echoes three times.
    const few = this.#context.hasSpoken() ? Math.min(3, maxUnmetWaits) : 1;
    if (this.#vainWaits < (this.#context.voice.hasAnswered ? maxUnmetWaits : few)) return;
    const last = [...missed.keys()].at(-1);
    this.stopped ??= new ConformanceError("incomplete", `waits were in vain, the last one at step ${last}`);
  }

  #checkTime(): void {
    if (this.#options.signal?.aborted === true)
      this.stopped ??= new ConformanceError("interrupted", "the run was interrupted");
    if (performance.now() > this.#options.dueAt)
      this.stopped ??= new ConformanceError("incomplete", "the time of the scenario was over");
  }

  async #runLeaf(verb: LeafVerb, step: LeafStep, place: string): Promise<void> {
    const { scope, limits, note } = this.#context;
    const label = `${place} ${labelOf(verb, step)}${this.#elements.join("")}`;
    // What a former step of this name got is not what this one got.
    if (step.as !== undefined) {
      scope.forget(step.as);
      this.#origins.set(step.as, label);
    }
    this.#checkTime();
    let value: unknown;
    let failure: Failure | undefined;
    const missed = this.#options.missed.get(place);
    if (missed !== undefined) failure = { reason: missed, isReached: true };
    else if (this.stopped !== undefined) failure = { reason: this.stopped.message, isReached: false };
    else if (this.#blind !== undefined) failure = this.#blind;
    else {
      const link = step.on ?? "main";
      const kind = place.replace(/\[\d+\]/g, "");
      const wait = step.within ?? this.#context.waitOf(link);
      const within = this.#vain.has(kind) ? Math.ceil(wait / 4) : wait;
      const begunAt = performance.now();
      try {
        const { checks: _, ...rest } = step;
        const resolved = scope.resolve(rest) as Record<string, unknown>;
        const afterFirst =
          within > limits.withinMs && step.within === undefined ? limits.withinMs : undefined;
        const ready = { verb, step: resolved, within, afterFirst, link, as: step.as };
        value = await verbs[verb](ready, this.#context);
        if (takes.includes(verb)) this.#context.voice.hasAnswered = true;
        if (step.as !== undefined && verb !== "do") scope.set(step.as, value);
        if (value !== true && verb !== "send") note(`< ${shownValue(value, limits.maxShownLength)}`);
      } catch (error) {
        failure = this.#failureOf(error, label, link);
        if (failure.isUnseen === true && verb === "restart") this.#blind = failure;
        if (
          Unmet.isInstance(error) &&
          performance.now() - begunAt >= Math.min(within, limits.withinMs) * 0.9
        ) {
          this.#vain.add(kind);
          this.#countWait(place, failure.reason);
        }
        note(`! ${label}: ${failure.reason}`);
      }
    }
    const checks = checksOf(step.checks);
    if (failure?.isReached === true && checks.length === 0) this.problems.push(`${label}: ${failure.reason}`);
    for (const [ids, matcher] of checks) this.#judge(ids, matcher, label, value, failure);
  }

  #failureOf(error: unknown, label: string, link: string): Failure {
    const reason = messageOf(error);
    if (Unreached.isInstance(error)) {
      const origin = this.#origins.get(error.missing);
      return { reason: origin === undefined ? reason : `${reason} after step ${origin}`, isReached: false };
    }
    if (Unseen.isInstance(error)) return { reason, isReached: false, isUnseen: true };
    if (Unmet.isInstance(error)) {
      const endedAt = error.isEnd ? this.#ends.get(link) : undefined;
      if (error.isEnd && endedAt === undefined) this.#ends.set(link, label);
      // What ended before it said anything is not asked again.
      if (error.isEnd && !this.#context.voice.hasAnswered && !this.#context.hasSpoken())
        this.stopped ??= new ConformanceError("unavailable", `the target said nothing: ${reason}`);
      return endedAt === undefined
        ? { reason, isReached: true }
        : { reason: `the connection had ended at step ${endedAt}`, isReached: false };
    }
    if (isOwnFault(error)) throw error;
    this.stopped = ConformanceError.isInstance(error)
      ? error
      : new ConformanceError("unavailable", reason, { cause: error });
    return { reason, isReached: true };
  }

  #judge(
    ids: readonly string[],
    matcher: unknown,
    step: string,
    value: unknown,
    failure: Failure | undefined,
  ): void {
    const difference = failure ?? this.#differenceOf(value, matcher);
    if (difference === undefined) {
      this.checks.push({ ids, step, verdict: "met" });
      return;
    }
    const { reason: detail, isReached, isUnseen } = difference;
    this.checks.push({
      ids,
      step,
      verdict: isReached ? "unmet" : "unjudged",
      detail,
      isUnseen,
      sent: this.#context.sent,
    });
    this.#context.note(`! ${ids.join(" ")}: ${detail}`);
  }

  #differenceOf(value: unknown, matcher: unknown): Failure | undefined {
    if (matcher === undefined) return undefined;
    const { scope, named, limits } = this.#context;
    try {
      const difference = match(value, scope.resolve(matcher), named);
      if (difference === undefined) return undefined;
      const { path, expected, found } = difference;
      const refusal = path.startsWith(".result") && found === undefined ? shownError(value) : undefined;
      const got = refusal ?? shownMessages(found) ?? shownValue(found, limits.maxShownLength);
      const reason = `${path === "" ? "the value" : path} should be ${expected}, got ${got}`;
      return { reason, isReached: true };
    } catch (error) {
      return this.#failureOf(error, "", "");
    }
  }

  /** What holds for all messages of the target, over all connections that the scenario has had. */
  #judgeAllMessages(): void {
    const { role } = this.#options.suite;
    const { transport } = this.#context;
    const links = [...this.#context.endedLinks, ...this.#context.links.values()];
    const all = links.flatMap((link) => link.inbox.messages.map(({ value }) => value));
    if (links.length === 0) return;
    for (const { checks, match: matcher, only } of role.always ?? []) {
      if (all.length === 0 || (only !== undefined && !only.includes(transport))) continue;
      const differences = all.map((value) => this.#differenceOf(value, matcher));
      const difference = differences.find((each) => each !== undefined);
      this.#judge(idsOf(checks), undefined, "every message", undefined, difference);
    }
    const noiseIds = role.noise?.[transport];
    if (noiseIds === undefined) return;
    const [noise] = links.flatMap((link) => link.inbox.noise);
    const failure = noise === undefined ? undefined : { reason: noise, isReached: true };
    this.#judge(idsOf(noiseIds), undefined, "every message", undefined, failure);
  }
}
