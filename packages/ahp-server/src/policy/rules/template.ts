import { displayText } from "@harnesskit/wire";
import type { EventView } from "../cel/event-view.ts";
import type { Expression, ExpressionProblem } from "../cel/expressions.ts";
import { RuleError } from "../policy-error.ts";
import { toJson } from "./to-json.ts";

/** A text with `${CEL}` in it; `$${` is a `${` that stands for itself. */
export interface Template {
  /** Whether it is the same for every event. */
  readonly isFixed: boolean;
  /** The text for people: what an event put in is shown safely and cut. */
  readonly toText: (view: EventView) => string;
  /** The value for programs: that of the expression, where the text is nothing else; else the whole text. */
  readonly toValue: (view: EventView) => unknown;
}

type Part = string | { readonly source: string; readonly offset: number };

/** Characters of one value that an event puts into a text for people. */
const maxInsertedLength = 200;

/** The end of the expression that begins at `start`: its `}` outside quotes and inner braces; -1 without one. */
const endOfExpression = (text: string, start: number): number => {
  let depth = 0;
  let quote = "";
  for (let index = start; index < text.length; index++) {
    const character = text[index] as string;
    if (quote) {
      if (character === "\\") index++;
      else if (character === quote) quote = "";
    } else if (character === '"' || character === "'") quote = character;
    else if (character === "{") depth++;
    else if (character === "}" && depth-- === 0) return index;
  }
  return -1;
};

const partsOf = (text: string): Part[] | ExpressionProblem => {
  const parts: Part[] = [];
  let plain = "";
  for (let index = 0; index < text.length; ) {
    if (text.startsWith("$${", index)) {
      plain += "${";
      index += 3;
      continue;
    }
    if (!text.startsWith("${", index)) {
      plain += text[index++];
      continue;
    }
    const end = endOfExpression(text, index + 2);
    if (end === -1) return { message: `this \${ has no }`, offset: index };
    if (plain) parts.push(plain);
    plain = "";
    parts.push({ source: text.slice(index + 2, end), offset: index + 2 });
    index = end + 1;
  }
  if (plain || parts.length === 0) parts.push(plain);
  return parts;
};

const spelled = (value: unknown): string => {
  const json = toJson(value);
  return typeof json === "string" ? json : JSON.stringify(json);
};

/** Makes a template, or says why a text is none. */
export const compileTemplate = (
  text: string,
  compile: (expression: string) => Expression | ExpressionProblem,
): Template | ExpressionProblem => {
  const parts = partsOf(text);
  if (!Array.isArray(parts)) return parts;
  const steps: (string | Expression)[] = [];
  for (const part of parts) {
    if (typeof part === "string") {
      steps.push(part);
      continue;
    }
    const expression = compile(part.source);
    if (typeof expression !== "function")
      return { message: expression.message, offset: part.offset + expression.offset };
    steps.push(expression);
  }
  const [only] = steps;
  const joined = (view: EventView, show: (value: unknown) => string): string => {
    let whole = "";
    for (const step of steps) whole += typeof step === "string" ? step : show(step(view));
    return whole;
  };
  return {
    isFixed: steps.every((step) => typeof step === "string"),
    toText: (view) => joined(view, (value) => displayText(spelled(value), { maxLength: maxInsertedLength })),
    toValue: (view) =>
      steps.length === 1 && typeof only === "function" ? toJson(only(view)) : joined(view, spelled),
  };
};

/** A value whose texts are templates. */
export interface JsonTemplate {
  readonly isFixed: boolean;
  readonly toValue: (view: EventView) => unknown;
}

/** Makes a template of every text in a value; `report` is told of those that are none. */
export const compileJson = (
  value: unknown,
  compile: (text: string, path: readonly PropertyKey[]) => Template | undefined,
  path: readonly PropertyKey[] = [],
): JsonTemplate => {
  const fixed: JsonTemplate = { isFixed: true, toValue: () => value };
  if (typeof value === "string") {
    const template = compile(value, path);
    if (!template) return fixed;
    const text = template.isFixed ? template.toValue(undefined as unknown as EventView) : undefined;
    return template.isFixed ? { isFixed: true, toValue: () => text } : template;
  }
  if (typeof value !== "object" || value === null) return fixed;
  if (Array.isArray(value)) {
    const items = value.map((item, index) => compileJson(item, compile, [...path, index]));
    return {
      isFixed: items.every((item) => item.isFixed),
      toValue: (view) => items.map((item) => item.toValue(view)),
    };
  }
  const entries = Object.entries(value).map(
    ([key, item]) => [key, compileJson(item, compile, [...path, key])] as const,
  );
  return {
    isFixed: entries.every(([, item]) => item.isFixed),
    toValue: (view) => Object.fromEntries(entries.map(([key, item]) => [key, item.toValue(view)])),
  };
};

/** A copy of a payload with the value at a place replaced. Throws `policy_decision` where the place is in no object. */
export const withValueAt = (payload: unknown, place: readonly string[], value: unknown): unknown => {
  const [key, ...rest] = place;
  if (key === undefined) return value;
  if (Array.isArray(payload)) {
    const index = Number(key);
    if (!/^\d+$/.test(key) || index >= payload.length) {
      throw new RuleError("policy_decision", `the payload has no place ${key}`);
    }
    return payload.with(index, withValueAt(payload[index], rest, value));
  }
  if (typeof payload !== "object" || payload === null) {
    throw new RuleError("policy_decision", `the payload has no place ${key}`);
  }
  const inner = Object.hasOwn(payload, key) ? (payload as Record<string, unknown>)[key] : {};
  const entries = Object.entries(payload).filter(([name]) => name !== key);
  return Object.fromEntries([...entries, [key, withValueAt(inner, rest, value)]]);
};
