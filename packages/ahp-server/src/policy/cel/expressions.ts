import { InvalidArgumentError } from "@harnesskit/wire";
import { TypeError as CelTypeError, Environment, EvaluationError, ParseError } from "@marcbachmann/cel-js";
import { RuleError } from "../policy-error.ts";
import type { ResolvedPolicyLimits } from "../policy-limits.ts";
import { CostBounds, guards } from "./bound-cost.ts";
import { CostMeter } from "./cost-meter.ts";
import { type EventView, slow } from "./event-view.ts";
import { FastPath } from "./fast-path.ts";
import { Patterns } from "./patterns.ts";
import type { PolicyFunction } from "./policy-function.ts";

/** An expression that is ready. Throws {@link RuleError}. */
export type Expression = (view: EventView) => unknown;

/** Why a text is no expression, and the offset in it. */
export interface ExpressionProblem {
  readonly message: string;
  readonly offset: number;
}

export interface ExpressionsOptions {
  readonly limits: ResolvedPolicyLimits;
  readonly functions: readonly PolicyFunction[];
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly elapsedMs: () => number;
}

const isCelError = (error: unknown): error is ParseError =>
  error instanceof ParseError || error instanceof CelTypeError || error instanceof EvaluationError;

const sync = { async: false };

/** The language of a policy's expressions: CEL with the event's parts as names, and the policy's lists and functions. */
export class Expressions {
  readonly #environment: Environment;
  readonly #limits: ResolvedPolicyLimits;
  readonly #meter: CostMeter;
  readonly #bounds: CostBounds;
  readonly #fastPath: FastPath;
  readonly #named: Readonly<Record<string, readonly string[]>>;
  #view: EventView | undefined;

  /** Throws `invalid_argument` for a function whose signature cannot be used. */
  constructor(options: ExpressionsOptions) {
    const { limits } = options;
    this.#limits = limits;
    this.#named = options.lists;
    this.#meter = new CostMeter(limits, options.elapsedMs);
    this.#environment = new Environment({
      homogeneousAggregateLiterals: false,
      limits: {
        maxAstNodes: limits.maxExpressionNodes,
        maxDepth: limits.maxExpressionDepth,
        maxListElements: limits.maxExpressionNodes,
        maxMapEntries: limits.maxExpressionNodes,
        maxCallArguments: 16,
      },
    });
    this.#bounds = new CostBounds((text) => this.#environment.parse(text).ast, limits.maxNesting);
    const sets = Object.entries(options.lists).map(([name, items]) => [name, new Set(items)] as const);
    const lists = Object.fromEntries(sets);
    this.#fastPath = new FastPath(lists);
    this.#declareEvent(lists);
    this.#declareGuards();
    for (const own of options.functions) this.#declare(own);
  }

  /** A decision begins: its costs are counted from here. */
  start(): void {
    this.#meter.start();
  }

  /** Looks at the time. Throws `policy_deadline`. */
  look(): void {
    this.#meter.look();
  }

  /** Makes an expression of the type: `bool` for a condition, `any` for a template's value. */
  compile(text: string, type: "bool" | "any"): Expression | ExpressionProblem {
    const { maxExpressionLength } = this.#limits;
    if (text.length > maxExpressionLength) {
      return { message: `an expression has at most ${maxExpressionLength} characters`, offset: 0 };
    }
    try {
      const parsed = this.#environment.parse(text);
      const fast = this.#fastPath.compile(parsed.ast);
      const problem = this.#bounds.apply(parsed.ast);
      if (problem) return problem;
      const { error, type: found } = parsed.check();
      if (error) return { message: error.summary, offset: error.range?.start ?? 0 };
      if (type === "bool" && found !== "bool" && found !== "dyn") {
        return { message: `a condition is true or false, and this is a ${found}`, offset: 0 };
      }
      if (!fast) return (view) => this.#evaluate(parsed, view);
      const meter = this.#meter;
      const { maxEventLength } = this.#limits;
      return (view) => {
        meter.expression();
        view.measure(maxEventLength);
        const value = fast(view);
        return value === slow ? this.#evaluate(parsed, view) : value;
      };
    } catch (error) {
      if (isCelError(error)) return { message: error.summary, offset: error.range?.start ?? 0 };
      if (error instanceof RangeError) return { message: "nested too deeply", offset: 0 };
      throw error;
    }
  }

  #evaluate(parsed: (context: Record<string, unknown>) => unknown, view: EventView): unknown {
    const outer = this.#view;
    this.#view = view;
    try {
      this.#meter.look();
      view.measure(this.#limits.maxEventLength);
      const value = parsed(view as unknown as Record<string, unknown>);
      this.#meter.check();
      return value;
    } catch (error) {
      // An error that CEL took for a missing answer must not hide that the cost was too much.
      this.#meter.check();
      throw toRuleError(error);
    } finally {
      this.#view = outer;
    }
  }

  #declareEvent(lists: Readonly<Record<string, ReadonlySet<string>>>): void {
    this.#environment
      .registerVariable("event", "map")
      .registerVariable("event_type", "string")
      .registerVariable("payload", "dyn")
      .registerVariable("tool", "string")
      .registerVariable("args", "map")
      .registerVariable("session", "string")
      .registerVariable("agent", "string")
      .registerVariable("depth", "int")
      .registerVariable("metadata", "map")
      .registerVariable("workspace", "string")
      .registerConstant("lists", "map<string, list<string>>", lists);
  }

  #declareGuards(): void {
    const meter = this.#meter;
    const patterns = new Patterns();
    this.#environment
      .registerFunction(`${guards.step}(): bool`, () => meter.step(), sync)
      .registerFunction(`${guards.value}(T): T`, (value: unknown) => meter.value(value), sync)
      .registerFunction(`${guards.range}(T): T`, (value: unknown) => meter.range(value), sync)
      .registerFunction(
        `string.${guards.match}(string): bool`,
        (text: string, pattern: string) => {
          meter.match(text);
          return patterns.test(text, pattern);
        },
        sync,
      );
  }

  #declare(own: PolicyFunction): void {
    const call = (...args: unknown[]): unknown => {
      const view = this.#view as EventView;
      this.#meter.look();
      const answer = view.remember(own, args, () => {
        const { event, workspace } = view;
        return own.call(args, { event, workspace, lists: this.#named });
      });
      if (answer instanceof Promise) {
        answer.catch(() => undefined);
        throw new RuleError("policy_function", `${own.signature} gave a promise`);
      }
      return answer;
    };
    try {
      this.#environment.registerFunction(own.signature, call, sync);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : "unusable";
      throw new InvalidArgumentError(`the function ${own.signature}: ${why}`, { cause });
    }
  }
}

const toRuleError = (error: unknown): RuleError => {
  if (RuleError.isInstance(error)) return error;
  if (isCelError(error)) return new RuleError("policy_expression_failed", error.summary, { cause: error });
  if (error instanceof RangeError)
    return new RuleError("policy_cost", "a value is too long", { cause: error });
  return new RuleError("policy_function", "a function failed", { cause: error });
};
