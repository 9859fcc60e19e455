import * as z from "zod";
import { didYouMean } from "../nearest-name.ts";

type Issue = z.core.$ZodIssue;

const kinds: Readonly<Record<string, string>> = {
  object: "a map of keys and values",
  record: "a map of keys and values",
  array: "a list, each item after a dash",
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
};

/** What can stand at a key of a policy. */
const examples: ReadonlyMap<string, string> = new Map([
  ["version", "version: 1"],
  ["name", "name: my-rule"],
  ["rules", "rules: []"],
  ["limits", "limits: []"],
  ["lists", 'lists: { docs: ["docs/**"] }'],
  ["defaults", "defaults: { gate: escalate }"],
  ["when", "when: { tool: bash }"],
  ["tool", "tool: bash"],
  ["cel", `cel: 'args.path.startsWith("docs/")'`],
  ["then", "then: allow"],
]);

const shown = (value: unknown): string => {
  if (value === undefined || value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "a map" : JSON.stringify(value).slice(0, 60);
};

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((found, step) => Object(found)[step as string], value);

/** What was probably meant, or else what there is. */
const adviceFor = (name: string, names: readonly string[]): string =>
  didYouMean(name, names) ?? `write ${names.join(", ")}`;

/** What is wrong with a value of a policy file, and what to write instead. */
export const issueText = (issue: Issue, path: readonly PropertyKey[], file: unknown): string => {
  const key = path.findLast((step) => typeof step === "string");
  const value = valueAt(file, path);
  if (key === undefined)
    return `a policy is a map with version: 1 and a list of rules, and this is ${shown(value)}`;
  const example = examples.has(key) ? `: write ${examples.get(key)}` : "";
  if (value === undefined) return `"${key}" is missing${example}`;
  if (issue.code === "invalid_value") {
    const names = issue.values.map(String);
    if (names.length === 1) return `"${key}" is ${shown(value)} and must be ${names[0]}${example}`;
    return `"${key}" cannot be ${shown(value)}; ${adviceFor(String(value), names)}`;
  }
  if (issue.code !== "invalid_type") return `${path.map(String).join(".")}: ${issue.message}`;
  return `"${key}" is ${shown(value)} and must be ${kinds[issue.expected] ?? issue.expected}${example}`;
};

/** The names of all keys below a schema. */
const keysOf = (schema: unknown): readonly string[] => {
  if (Array.isArray(schema)) return schema.flatMap(keysOf);
  if (typeof schema !== "object" || schema === null) return [];
  const { properties = {} } = schema as { readonly properties?: object };
  return [...Object.keys(properties), ...Object.values(schema).flatMap(keysOf)];
};

export const unknownKeyText = (key: string, schema: z.ZodType): string => {
  const meant = didYouMean(key, keysOf(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })));
  return [`unknown key ${JSON.stringify(key.slice(0, 100))}`, ...(meant ? [meant] : [])].join("; ");
};

const yamlTexts: readonly (readonly [RegExp, string])[] = [
  [
    /without - indicator|All (?:mapping|sequence|collection) items must start/,
    "this line is indented otherwise than those around it",
  ],
  [/Implicit map keys? need/, "a key needs a colon, a space and a value, such as then: allow"],
  [/Tabs are not allowed/, "a tab cannot indent: use spaces"],
  [/Missing closing ("|')/, "a quote is not closed"],
  [/Nested mappings are not allowed/, 'the value has ": " in it: put the whole value in quotes'],
  [/^(?:Alias|Unresolved alias|Anchor) /, "a value that begins with * or & needs quotes"],
];

/** What is wrong with YAML, and what to write instead. */
export const yamlText = (message: string): string => {
  const found = yamlTexts.find(([pattern]) => pattern.test(message))?.[1];
  return found ?? message.replace(/ at line \d+, column \d+:?$/, "");
};
