import type { JsonObject } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { compileJsonSchema } from "./json-schema.ts";

/** A JSON Schema (draft 2020-12) as a plain object. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** What describes a tool's input or output: a Standard Schema (zod, valibot, arktype, …) or a JSON Schema. */
export type ToolSchema = StandardSchemaV1 | JsonSchema;

/** Where a value does not fit and why: never the value itself. */
export interface Problem {
  /** A JSON Pointer; empty for the whole. */
  readonly path: string;
  /** What was broken, such as `invalid_type` or `required`. */
  readonly problem: string;
  /** The type or name that the schema asked for. */
  readonly expected?: string;
}

export type Validated =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** A schema that can be declared and checked against. */
export interface CompiledSchema {
  readonly jsonSchema: JsonObject;
  validate(value: unknown): Validated | Promise<Validated>;
}

const maxProblems = 16;
const maxPathLength = 256;
const identifier = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

const pointerOf = (path: StandardSchemaV1.Issue["path"]): string => {
  let pointer = "";
  for (const segment of path ?? []) {
    const key = typeof segment === "object" ? segment.key : segment;
    pointer += `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  }
  return pointer.slice(0, maxPathLength);
};

/** A message may quote the value, so that only what names a rule is taken. */
const problemOf = (issue: StandardSchemaV1.Issue): Problem => {
  const { code, type, expected } = issue as { code?: unknown; type?: unknown; expected?: unknown };
  const rule = [code, type].find((name) => typeof name === "string" && identifier.test(name));
  return {
    path: pointerOf(issue.path),
    problem: (rule as string | undefined) ?? "invalid",
    ...(typeof expected === "string" && identifier.test(expected) && { expected }),
  };
};

const toValidated = (result: StandardSchemaV1.Result<unknown>): Validated =>
  result.issues
    ? { ok: false, problems: result.issues.slice(0, maxProblems).map(problemOf) }
    : { ok: true, value: result.value };

const isStandard = (schema: ToolSchema): schema is StandardSchemaV1 =>
  (schema as Partial<StandardSchemaV1>)["~standard"]?.version === 1;

/** What the schema itself says as JSON Schema, or undefined where it cannot. */
const declaredBy = (
  schema: StandardSchemaV1,
  side: "input" | "output",
  name: string,
): JsonSchema | undefined => {
  const { jsonSchema } = schema["~standard"] as Partial<StandardJSONSchemaV1.Props>;
  if (jsonSchema === undefined) return undefined;
  try {
    return jsonSchema[side]({ target: "draft-2020-12" });
  } catch (cause) {
    throw new InvalidArgumentError(
      `${name}: this schema has no JSON Schema; give one beside it as ${side}Schema`,
      { cause },
    );
  }
};

const toDeclaration = (schema: unknown, name: string): JsonObject => {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw new InvalidArgumentError(`${name} is a Standard Schema or a JSON Schema object`);
  }
  let copy: JsonObject;
  try {
    copy = JSON.parse(JSON.stringify(schema)) as JsonObject;
  } catch (cause) {
    throw new InvalidArgumentError(`${name} has no JSON form`, { cause });
  }
  if (copy.type !== undefined && copy.type !== "object") {
    throw new InvalidArgumentError(`${name} describes a JSON object: its type is "object"`);
  }
  return copy;
};

/**
 * Makes a schema ready: `beside` is the JSON Schema given next to one that cannot give its own. Throws
 * `invalid_argument` when there is none, when it is not valid, or when it describes no object.
 */
export const compileSchema = (
  schema: ToolSchema,
  side: "input" | "output",
  beside: JsonSchema | undefined,
  tool: string,
): CompiledSchema => {
  const name = `tool ${tool}: ${side}`;
  if (schema === null || (typeof schema !== "object" && typeof schema !== "function")) {
    throw new InvalidArgumentError(`${name} is a Standard Schema or a JSON Schema object`);
  }
  if (!isStandard(schema)) {
    const jsonSchema = toDeclaration(beside ?? schema, name);
    return { jsonSchema, validate: compileJsonSchema(toDeclaration(schema, name), name) };
  }
  const declared = beside ?? declaredBy(schema, side, name);
  if (declared === undefined) {
    throw new InvalidArgumentError(
      `${name}: ${schema["~standard"].vendor} gives no JSON Schema here; give one beside it as ${side}Schema`,
    );
  }
  return {
    jsonSchema: toDeclaration(declared, name),
    validate(value) {
      const result = schema["~standard"].validate(value);
      return result instanceof Promise ? result.then(toValidated) : toValidated(result);
    },
  };
};
