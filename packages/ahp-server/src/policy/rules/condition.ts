import type { AhpEventType } from "@harnesskit/protocol/ahp";
import type { EventView } from "../cel/event-view.ts";
import type { Expression, Expressions } from "../cel/expressions.ts";
import type { When } from "../file/policy-schema.ts";
import type { ProblemList } from "../file/read-policy-file.ts";
import type { YamlPath } from "../file/yaml-places.ts";
import { RuleError } from "../policy-error.ts";
import { compileNames } from "./globs.ts";

/** When a rule or a limit applies. */
export interface Condition {
  readonly types: readonly AhpEventType[];
  /** Whether the tool's name fits; undefined where every tool does. Throws {@link RuleError}. */
  readonly tool: ((name: string) => boolean) | undefined;
  /** What else must hold. Throws {@link RuleError}. */
  readonly holds: (view: EventView) => boolean;
  /** In words, the same for every event. */
  readonly why: string;
}

export interface ConditionOptions {
  readonly when: When | undefined;
  readonly path: YamlPath;
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly expressions: Expressions;
  readonly problems: ProblemList;
  /** Types of events where `when` names none. */
  readonly defaultTypes: (hasTool: boolean) => readonly AhpEventType[];
}

const asList = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T];

type Names = ((name: string) => boolean) | undefined;

const holdsOf = (session: Names, agent: Names, conditions: readonly Expression[]): Condition["holds"] => {
  const [only] = conditions;
  // Most rules have one expression, and are asked for each call of their tool.
  if (only && conditions.length === 1 && !session && !agent) {
    return (view) => {
      const value = only(view);
      return value === true || (value !== false && isTrue(value));
    };
  }
  return (view) => {
    if (session && !session(view.session)) return false;
    if (agent && !agent(view.agent)) return false;
    return conditions.every((condition) => isTrue(condition(view)));
  };
};

const maxWhyLength = 300;

const isTrue = (value: unknown): boolean => {
  if (typeof value === "boolean") return value;
  throw new RuleError("policy_expression_failed", "a condition came to neither true nor false");
};

/** Makes a condition of a `when`. What is wrong goes to `problems`. */
export const compileCondition = (options: ConditionOptions): Condition => {
  const { when = {}, path, lists, expressions, problems } = options;
  const names = (key: "tool" | "session" | "agent") => {
    const globs = when[key];
    return globs === undefined ? undefined : compileNames({ globs, lists, path: [...path, key], problems });
  };
  const [tool, session, agent] = [names("tool"), names("session"), names("agent")];
  const conditions: Expression[] = [];
  asList(when.cel).forEach((text, index) => {
    const place = [...path, "cel", ...(typeof when.cel === "string" ? [] : [index])];
    const expression = expressions.compile(text, "bool");
    if (typeof expression === "function") conditions.push(expression);
    else problems.addInText(place, text, expression.offset, expression.message);
  });
  const parts = (["tool", "session", "agent", "cel"] as const).flatMap((key) => {
    const value = asList(when[key]).join(", ");
    return value === "" ? [] : [`${key}: ${value.replace(/\s+/g, " ").trim()}`];
  });
  const why = parts.join("; ") || "always";
  const types = asList(when.event);
  return {
    types: types.length > 0 ? [...new Set(types)] : options.defaultTypes(when.tool !== undefined),
    tool,
    holds: holdsOf(session, agent, conditions),
    why: why.length > maxWhyLength ? `${why.slice(0, maxWhyLength - 1)}…` : why,
  };
};
