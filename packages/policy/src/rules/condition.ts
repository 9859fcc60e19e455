import type { AhpEventType } from "@harnesskit/protocol/ahp";
import type { EventView } from "../cel/event-view.ts";
import type { Expression, Expressions } from "../cel/expressions.ts";
import { cutText } from "../cut-text.ts";
import type { When } from "../file/policy-schema.ts";
import type { PolicySource, YamlPath } from "../file/policy-source.ts";
import { RuleError } from "../policy-error.ts";
import { compileNames } from "./globs.ts";

/** What rules, limits and defaults are compiled with. */
export interface CompileParts {
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly expressions: Expressions;
  readonly problems: Pick<PolicySource, "add" | "addInText" | "warn">;
  /** The decisions fit their events: that was checked before. */
  readonly isChecked: boolean;
}

/** When a rule or a limit applies. */
export interface Condition {
  readonly types: readonly AhpEventType[];
  /** Whether the tool's name and what it does fit. Throws {@link RuleError}. */
  readonly fitsTool: (view: EventView) => boolean;
  /** Whether all parts hold, the tool's name included. Throws {@link RuleError}. */
  readonly holds: (view: EventView) => boolean;
  /** A description that is the same for every event. */
  readonly why: string;
}

const maxWhyLength = 300;
const keys = ["action", "tool", "session", "agent", "cel"] as const;

const asList = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T];

const isTrue = (value: unknown): boolean => {
  if (typeof value === "boolean") return value;
  throw new RuleError("policy_expression_failed", "a condition is neither true nor false");
};

const describeWhen = (when: When): string => {
  const parts = keys.flatMap((key) => {
    const value = asList(when[key]).join(", ").replace(/\s+/g, " ").trim();
    return value === "" ? [] : [`${key}: ${value}`];
  });
  return cutText(parts.join("; ") || "always", maxWhyLength);
};

/** Compiles a `when`. Its problems are added to `parts.problems`. `defaultTypes` apply where it names no event. */
export const compileCondition = (
  when: When = {},
  path: YamlPath,
  defaultTypes: readonly AhpEventType[],
  parts: CompileParts,
): Condition => {
  const { lists, expressions, problems } = parts;
  const names = (key: "tool" | "session" | "agent") => {
    const globs = when[key];
    return globs === undefined ? undefined : compileNames(globs, [...path, key], lists, problems);
  };
  const [tool, session, agent] = [names("tool"), names("session"), names("agent")];
  const conditions: Expression[] = [];
  asList(when.cel).forEach((text, index) => {
    const expression = expressions.compile(text, "bool");
    if (typeof expression === "function") conditions.push(expression);
    else {
      const place = [...path, "cel", ...(typeof when.cel === "string" ? [] : [index])];
      problems.addInText(place, text, expression);
    }
  });
  const types = asList(when.event);
  const actions = asList(when.action);
  const fitsTool = (view: EventView): boolean =>
    (actions.length === 0 || actions.includes(view.action)) && (!tool || tool(view.tool));
  return {
    types: types.length > 0 ? [...new Set(types)] : defaultTypes,
    fitsTool,
    holds: (view) =>
      fitsTool(view) &&
      (!session || session(view.session)) &&
      (!agent || agent(view.agent)) &&
      conditions.every((condition) => isTrue(condition(view))),
    why: describeWhen(when),
  };
};
