import * as z from "zod";

export type Validation = { readonly value: unknown } | { readonly problem: string };

/** Why a schema did not take a value. */
export const mismatchOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : "it does not match the schema";

/** A JSON Schema without a function to validate is checked as JSON Schema; the value stays as it is. */
export const checkJsonSchema = (jsonSchema: object, value: unknown): Validation => {
  const parsed = z.fromJSONSchema(jsonSchema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(value);
  return parsed.success ? { value } : { problem: mismatchOf(parsed.error) };
};

export interface StandardSchema {
  readonly "~standard": { validate(value: unknown): unknown };
}

const isStandard = (schema: object): schema is StandardSchema => "~standard" in schema;

/**
 * Reads a value with a Standard Schema (zod, Valibot, ArkType) or a JSON Schema: what it returns may differ from what it took. A schema that
 * cannot be checked accepts nothing.
 */
export const validateWith = async (schema: object, value: unknown): Promise<Validation> => {
  try {
    if (!isStandard(schema)) return checkJsonSchema(schema, value);
    const result = (await schema["~standard"].validate(value)) as {
      readonly issues?: readonly { readonly message: string }[];
      readonly value?: unknown;
    };
    if (result.issues === undefined) return { value: result.value };
    return { problem: result.issues[0]?.message ?? mismatchOf(undefined) };
  } catch (thrown) {
    return { problem: mismatchOf(thrown) };
  }
};
