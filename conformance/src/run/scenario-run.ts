import { ConformanceError, messageOf, Unmet } from "../errors.ts";
import { match } from "../match/match.ts";
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
import * as connection from "./connection-steps.ts";
import * as messages from "./message-steps.ts";
import type { DoStep, StepContext } from "./step-context.ts";

/** One check: whether it held, and if not, why. */
export interface CheckResult {
  readonly ids: readonly string[];
  /** The step, such as `3 call ahp/handshake`. */
  readonly step: string;
  readonly isMet: boolean;
  readonly detail?: string;
}

const { linkOf: _, ...messageVerbs } = messages;
const { doOperation, ...connectionVerbs } = connection;
const verbs: Readonly<Record<Exclude<Verb, "each" | "use">, DoStep>> = {
  ...messageVerbs,
  ...connectionVerbs,
  ask,
  do: doOperation,
};

const shownValue = (value: unknown, maxLength: number): string => {
  const text = value === undefined ? "absent" : JSON.stringify(value);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
};

const labelOf = (verb: Verb, step: LeafStep): string => {
  const subject: unknown = (step as unknown as Record<string, unknown>)[verb];
  return typeof subject === "string" ? `${verb} ${subject}` : verb;
};

export interface ScenarioRunOptions {
  readonly suite: Suite;
  readonly scenario: ScenarioFile;
  readonly context: StepContext;
  /** When the scenario has to be over, as `performance.now()` counts. */
  readonly dueAt: number;
  readonly signal: AbortSignal | undefined;
}

/** Does the steps of one scenario and collects its checks. */
export class ScenarioRun {
  readonly checks: CheckResult[] = [];
  /** Steps without checks that were not met. */
  readonly problems: string[] = [];
  /** Why nothing more can be done: the target is not there, or the time is over. */
  stopped: ConformanceError | undefined;
  readonly #options: ScenarioRunOptions;
  readonly #context: StepContext;
  #unmetWaits = 0;

  constructor(options: ScenarioRunOptions) {
    this.#options = options;
    this.#context = options.context;
  }

  async run(): Promise<void> {
    await this.#runAll(this.#options.scenario.steps, "");
    this.#judgeAllMessages();
  }

  async #runAll(steps: readonly Step[], prefix: string): Promise<void> {
    for (const [index, step] of steps.entries()) {
      if (step.only !== undefined && !step.only.includes(this.#context.transport)) continue;
      const place = `${prefix}${index + 1}`;
      const verb = verbOf(step);
      if (verb === "each") await this.#runEach(step as EachStep, place);
      else if (verb === "use") await this.#runFragment(step as UseStep, place);
      else await this.#runLeaf(verb as Exclude<Verb, "each" | "use">, step as LeafStep, place);
    }
  }

  async #runEach(step: EachStep, place: string): Promise<void> {
    let list: unknown;
    try {
      list = this.#context.scope.resolve(step.each);
    } catch (error) {
      this.problems.push(`${place} each: ${messageOf(error)}`);
    }
    // Where the list did not come, the checks inside are reported once.
    for (const [index, element] of (Array.isArray(list) ? (list as unknown[]) : [undefined]).entries()) {
      this.#context.scope.set(step.as, element);
      await this.#runAll(step.steps, `${place}[${index + 1}].`);
    }
  }

  async #runFragment(step: UseStep, place: string): Promise<void> {
    const { fragments } = this.#options.suite;
    for (const [name, value] of Object.entries(step.with ?? {}))
      this.#context.scope.set(name, this.#context.scope.resolve(value));
    const steps = fragments[step.use];
    if (steps === undefined)
      throw new ConformanceError("invalid_scenario", `there is no fragment ${step.use}`);
    await this.#runAll(steps, `${place}.`);
  }

  /** Counts the waits that took their whole time: a target that answers nothing is not asked everything. */
  #countWait(wasLong: boolean): void {
    if (!wasLong) return;
    this.#unmetWaits += 1;
    if (this.#unmetWaits >= this.#context.limits.maxUnmetWaits)
      this.stopped ??= new ConformanceError(
        "incomplete",
        `${this.#unmetWaits} waits before this step were in vain`,
      );
  }

  #checkTime(): void {
    if (this.#options.signal?.aborted === true)
      this.stopped ??= new ConformanceError("interrupted", "the run was interrupted");
    if (performance.now() > this.#options.dueAt)
      this.stopped ??= new ConformanceError(
        "incomplete",
        "the time of the scenario was over before this step",
      );
  }

  async #runLeaf(verb: Exclude<Verb, "each" | "use">, step: LeafStep, place: string): Promise<void> {
    const { scope, limits, note } = this.#context;
    const label = `${place} ${labelOf(verb, step)}`;
    // What a former step of this name got is not what this one got.
    if (step.as !== undefined) scope.forget(step.as);
    this.#checkTime();
    let value: unknown;
    let reason = this.stopped?.message;
    if (reason === undefined) {
      const within = step.within ?? limits.withinMs;
      const begunAt = performance.now();
      try {
        const { checks: _, ...rest } = step;
        const resolved = scope.resolve(rest) as Record<string, unknown>;
        const ready = { verb, step: resolved, within, link: step.on ?? "main", as: step.as };
        value = await verbs[verb](ready, this.#context);
        if (step.as !== undefined && verb !== "do") scope.set(step.as, value);
        if (value !== true && verb !== "send") note(`< ${shownValue(value, limits.maxShownLength)}`);
      } catch (error) {
        reason = messageOf(error);
        if (Unmet.isInstance(error)) this.#countWait(performance.now() - begunAt >= within * 0.9);
        else {
          this.stopped = ConformanceError.isInstance(error)
            ? error
            : new ConformanceError("unavailable", reason, { cause: error });
        }
        note(`! ${label}: ${reason}`);
      }
    }
    const checks = checksOf(step.checks);
    if (reason !== undefined && checks.length === 0) this.problems.push(`${label}: ${reason}`);
    for (const [ids, matcher] of checks) this.#judge(ids, matcher, label, value, reason);
  }

  #judge(
    ids: readonly string[],
    matcher: unknown,
    step: string,
    value: unknown,
    reason: string | undefined,
  ): void {
    const detail = reason ?? this.#differenceOf(value, matcher);
    this.checks.push({ ids, step, isMet: detail === undefined, ...(detail === undefined ? {} : { detail }) });
    if (detail !== undefined) this.#context.note(`! ${ids.join(" ")}: ${detail}`);
  }

  #differenceOf(value: unknown, matcher: unknown): string | undefined {
    if (matcher === undefined) return undefined;
    const { scope, named, limits } = this.#context;
    try {
      const difference = match(value, scope.resolve(matcher), named);
      if (difference === undefined) return undefined;
      const { path, expected, found } = difference;
      return `${path === "" ? "the value" : path} should be ${expected}, got ${shownValue(found, limits.maxShownLength)}`;
    } catch (error) {
      return messageOf(error);
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
      const details = all.map((value) => this.#differenceOf(value, matcher));
      const detail = details.find((each) => each !== undefined);
      const result = { ids: idsOf(checks), step: "every message", isMet: detail === undefined };
      this.checks.push(detail === undefined ? result : { ...result, detail });
    }
    const noiseIds = role.noise?.[transport];
    if (noiseIds === undefined) return;
    const [noise] = links.flatMap((link) => link.inbox.noise);
    const result = { ids: idsOf(noiseIds), step: "every message", isMet: noise === undefined };
    this.checks.push(noise === undefined ? result : { ...result, detail: noise });
  }
}
