import type { JsonObject } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "../errors.ts";
import { copyJson, isObject } from "../json/json.ts";

/** A JSON Schema (draft 2020-12) as a plain object. */
export type JsonSchema = { readonly [keyword: string]: unknown };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** The part of Standard Schema v1 (https://standardschema.dev) that is used here. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What describes a tool's input or output. */
export type ToolSchema = StandardSchema | JsonSchema;

type Types<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>;
export type InferInput<Schema extends StandardSchema> = Types<Schema>["input"];
export type InferOutput<Schema extends StandardSchema> = Types<Schema>["output"];

/** True for a schema of a library that implements Standard Schema v1. */
export const isStandardSchema = (schema: unknown): schema is StandardSchema =>
  (typeof schema === "object" || typeof schema === "function") &&
  schema !== null &&
  (schema as Partial<StandardSchema>)["~standard"]?.version === 1;

interface JsonSchemaSource {
  readonly jsonSchema?: Readonly<Record<"input" | "output", (options: { target: string }) => JsonSchema>>;
}

/**
 * The JSON Schema that a schema declares: `beside` where given, itself where it is one, or what its library provides.
 * Throws `invalid_argument` with `name` for a missing schema, or one that does not describe a JSON object.
 */
export const toJsonSchema = (
  schema: ToolSchema,
  { side, beside, name }: { side: "input" | "output"; beside?: JsonSchema | undefined; name: string },
): JsonObject => {
  const declared = beside ?? (isStandardSchema(schema) ? declaredBy(schema, side, name) : schema);
  const copy = jsonOf(declared, name);
  if (!isObject(copy) || (copy.type !== undefined && copy.type !== "object")) {
    throw new InvalidArgumentError(`${name} must describe a JSON object: its type must be "object"`);
  }
  return copy;
};

const jsonOf = (declared: JsonSchema, name: string): JsonObject => {
  try {
    return copyJson<JsonObject>(declared, { name });
  } catch (cause) {
    throw new InvalidArgumentError(`${name} has no JSON form`, { cause });
  }
};

const declaredBy = (schema: StandardSchema, side: "input" | "output", name: string): JsonSchema => {
  const { jsonSchema } = schema["~standard"] as JsonSchemaSource;
  try {
    if (jsonSchema) return jsonSchema[side]({ target: "draft-2020-12" });
  } catch (cause) {
    throw new InvalidArgumentError(`${name} has no JSON Schema: pass one as ${side}Schema`, { cause });
  }
  throw new InvalidArgumentError(`${name} has no JSON Schema: pass one as ${side}Schema`);
};
