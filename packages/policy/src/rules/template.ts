import { displayText } from "@harnesskit/wire";
import type { EventView } from "../cel/event-view.ts";
import type { Expression, ExpressionProblem } from "../cel/expressions.ts";
import { celToJson } from "./cel-to-json.ts";

/** A string with `${CEL}` in it; `$${` stands for `${`. */
export interface Template {
  /** Whether it is the same for every event. */
  readonly isFixed: boolean;
  /** The string for people: what an event inserts is shown safely and cut. */
  readonly toText: (view: EventView) => string;
  /** The value for programs: the expression's own value where the string is one `${…}`; else the whole string. */
  readonly toValue: (view: EventView) => unknown;
}

/** Characters of one value that an event inserts into a string for people. */
const maxInsertedLength = 200;

/** The index of the `}` that ends an expression, outside quotes and inner braces; -1 without one. */
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

const toText = (value: unknown): string => {
  const json = celToJson(value);
  return typeof json === "string" ? json : JSON.stringify(json);
};

type Compile = (expression: string) => Expression | ExpressionProblem;

/** Strings and expressions in their order. */
const compileParts = (text: string, compile: Compile): (string | Expression)[] | ExpressionProblem => {
  const parts: (string | Expression)[] = [];
  let from = 0;
  for (const { index, 0: mark } of text.matchAll(/\$?\$\{/g)) {
    // Inside an expression.
    if (index < from) continue;
    parts.push(text.slice(from, index));
    from = index + mark.length;
    if (mark === "$${") {
      parts.push("${");
      continue;
    }
    const end = endOfExpression(text, from);
    if (end === -1) return { message: `this \${ has no }`, offset: index };
    const expression = compile(text.slice(from, end));
    if (typeof expression !== "function") return { ...expression, offset: from + expression.offset };
    parts.push(expression);
    from = end + 1;
  }
  parts.push(text.slice(from));
  return parts.filter((part) => part !== "");
};

/** Compiles a template, or returns why a string is not one. */
export const compileTemplate = (text: string, compile: Compile): Template | ExpressionProblem => {
  const parts = compileParts(text, compile);
  if (!Array.isArray(parts)) return parts;
  const [only] = parts;
  const join = (view: EventView, show: (value: unknown) => string): string =>
    parts.map((part) => (typeof part === "string" ? part : show(part(view)))).join("");
  return {
    isFixed: parts.every((part) => typeof part === "string"),
    toText: (view) => join(view, (value) => displayText(toText(value), { maxLength: maxInsertedLength })),
    toValue: (view) =>
      parts.length === 1 && typeof only === "function" ? celToJson(only(view)) : join(view, toText),
  };
};

/** A value whose strings are templates. */
export type JsonTemplate = Omit<Template, "toText">;

/** Compiles each string of a value with `compile`, which returns undefined for one that is not a template. */
export const compileJson = (
  value: unknown,
  compile: (text: string, path: readonly PropertyKey[]) => Template | undefined,
  path: readonly PropertyKey[],
): JsonTemplate => {
  const fixed: JsonTemplate = { isFixed: true, toValue: () => value };
  if (typeof value === "string") return compile(value, path) ?? fixed;
  if (typeof value !== "object" || value === null) return fixed;
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  const items = keys.map((key) =>
    compileJson((value as Record<PropertyKey, unknown>)[key], compile, [...path, key]),
  );
  return {
    isFixed: items.every((item) => item.isFixed),
    toValue: (view) => {
      const values = items.map((item) => item.toValue(view));
      return Array.isArray(value)
        ? values
        : Object.fromEntries(keys.map((key, index) => [key, values[index]]));
    },
  };
};
