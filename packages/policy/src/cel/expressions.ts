import { InvalidArgumentError } from "@harnesskit/wire";
import { TypeError as CelTypeError, Environment, EvaluationError, ParseError } from "@marcbachmann/cel-js";
import { RuleError } from "../policy-error.ts";
import type { PolicyLimits } from "../policy-limits.ts";
import { boundCost, type CostProblem, guards } from "./bound-cost.ts";
import { celProblemText } from "./cel-problem-text.ts";
import { CostMeter } from "./cost-meter.ts";
import type { EventView } from "./event-view.ts";
import type { Matches } from "./patterns.ts";
import type { PolicyFunction } from "./policy-function.ts";

/** A compiled expression. Throws {@link RuleError}. */
export type Expression = (view: EventView) => unknown;

/** Why a string is not an expression, and the offset in it. */
export type ExpressionProblem = CostProblem;

export interface ExpressionsOptions {
  readonly limits: PolicyLimits;
  readonly functions: readonly PolicyFunction[];
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly elapsedMs: () => number;
  /** @default none: the expressions are known to be valid and have no patterns, and each is compiled when it is first evaluated */
  readonly matches?: Matches | undefined;
}

const isCelError = (error: unknown): error is ParseError =>
  error instanceof ParseError || error instanceof CelTypeError || error instanceof EvaluationError;

/** The parts of an event by their names in expressions, with their types. */
const variables = {
  event: "map",
  event_type: "string",
  payload: "dyn",
  tool: "string",
  action: "string",
  args: "map",
  session: "string",
  agent: "string",
  depth: "int",
  metadata: "map",
  workspace: "string",
};
const names = [...Object.keys(variables), "lists"];

const sync = { async: false };

/** The language of a policy's expressions: CEL with the event's parts as names, and the policy's lists and functions. */
export class Expressions {
  readonly #environment: Environment;
  readonly #options: ExpressionsOptions;
  readonly #meter: CostMeter;
  #view: EventView | undefined;

  /** Throws `invalid_argument` for a function with a signature that is not valid. */
  constructor(options: ExpressionsOptions) {
    const { limits } = options;
    this.#options = options;
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
    this.#declareEvent();
    this.#declareGuards();
    for (const source of options.functions) this.#declare(source);
  }

  /** A decision begins: its costs are counted from here. */
  start(): void {
    this.#meter.start();
  }

  /** Compiles an expression of the type: `bool` for a condition, `any` for a template's value. */
  compile(text: string, type: "bool" | "any"): Expression | ExpressionProblem {
    return this.#options.matches ? this.#compile(text, type) : this.#compileLater(text, type);
  }

  #compileLater(text: string, type: "bool" | "any"): Expression {
    let compiled: Expression | ExpressionProblem | undefined;
    return (view) => {
      compiled ??= this.#meter.without(() => this.#compile(text, type));
      if (typeof compiled === "function") return compiled(view);
      throw new RuleError("policy_expression_failed", compiled.message);
    };
  }

  #compile(text: string, type: "bool" | "any"): Expression | ExpressionProblem {
    const { maxExpressionLength, maxNesting } = this.#options.limits;
    if (text.length > maxExpressionLength)
      return { message: `an expression has at most ${maxExpressionLength} characters`, offset: 0 };
    try {
      const parsed = this.#environment.parse(text);
      const problem = boundCost(parsed.ast, (source) => this.#environment.parse(source).ast, maxNesting);
      if (problem) return problem;
      const { error, type: found } = parsed.check();
      if (error) return { message: celProblemText(error.summary, names), offset: error.range?.start ?? 0 };
      if (type === "bool" && found !== "bool" && found !== "dyn")
        return { message: `a condition must be true or false, and this is a ${found}`, offset: 0 };
      return (view) => this.#evaluate(parsed, view);
    } catch (error) {
      if (isCelError(error))
        return { message: celProblemText(error.summary, names), offset: error.range?.start ?? 0 };
      if (error instanceof RangeError) return { message: "nested too deeply", offset: 0 };
      throw error;
    }
  }

  #evaluate(parsed: (context: Record<string, unknown>) => unknown, view: EventView): unknown {
    const outer = this.#view;
    this.#view = view;
    try {
      this.#meter.checkDeadline();
      view.checkLength(this.#options.limits.maxEventLength);
      const value = parsed(view as unknown as Record<string, unknown>);
      this.#meter.check();
      return value;
    } catch (error) {
      // CEL may have replaced the meter's error by one of its own.
      this.#meter.check();
      throw toRuleError(error);
    } finally {
      this.#view = outer;
    }
  }

  #declareEvent(): void {
    const lists = Object.entries(this.#options.lists).map(([name, items]) => [name, new Set(items)] as const);
    for (const [name, type] of Object.entries(variables)) this.#environment.registerVariable(name, type);
    this.#environment.registerConstant("lists", "map<string, list<string>>", Object.fromEntries(lists));
  }

  #declareGuards(): void {
    const meter = this.#meter;
    const match = (text: string, pattern: string): boolean => {
      meter.match(text);
      if (this.#options.matches) return this.#options.matches(text, pattern);
      throw new RuleError("policy_expression_failed", "patterns are not loaded");
    };
    this.#environment
      .registerFunction(`${guards.step}(): bool`, () => meter.step(), sync)
      .registerFunction(`${guards.value}(T): T`, (value: unknown) => meter.value(value), sync)
      .registerFunction(`${guards.range}(T): T`, (value: unknown) => meter.range(value), sync)
      .registerFunction(`string.${guards.match}(string): bool`, match, sync);
  }

  #declare(source: PolicyFunction): void {
    const { lists } = this.#options;
    const call = (...args: unknown[]): unknown => {
      const view = this.#view as EventView;
      const { event, workspace } = view;
      this.#meter.checkDeadline();
      const answer = view.ask(source, args, () => source.call(args, { event, workspace, lists }));
      if (!(answer instanceof Promise)) return answer;
      answer.catch(() => undefined);
      throw new RuleError("policy_function", `${source.signature} returned a promise`);
    };
    try {
      this.#environment.registerFunction(source.signature, call, sync);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : "not valid";
      throw new InvalidArgumentError(`the function ${source.signature}: ${why}`, { cause });
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
