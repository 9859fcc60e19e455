import { asSchema, type Tool } from "ai";
import * as z from "zod";

type Validation = { readonly value: unknown } | { readonly problem: string };

const mismatchOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : "it does not match the schema";

/** A JSON Schema without a function to validate is checked as JSON Schema; the value stays as it is. */
const checkJsonSchema = (jsonSchema: object, value: unknown): Validation => {
  const parsed = z.fromJSONSchema(jsonSchema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(value);
  return parsed.success ? { value } : { problem: mismatchOf(parsed.error) };
};

/** Arguments as the tool's schema returns them. A schema that cannot be checked accepts nothing. */
export const validateArguments = async ({ inputSchema }: Tool, value: unknown): Promise<Validation> => {
  try {
    const schema = asSchema<unknown>(inputSchema);
    if (!schema.validate) return checkJsonSchema(await schema.jsonSchema, value);
    const validated = await schema.validate(value);
    return validated.success ? { value: validated.value } : { problem: mismatchOf(validated.error) };
  } catch (thrown) {
    return { problem: mismatchOf(thrown) };
  }
};
