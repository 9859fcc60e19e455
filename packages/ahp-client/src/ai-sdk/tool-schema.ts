import { asSchema, type Tool } from "ai";
import { checkJsonSchema, mismatchOf, type Validation } from "../supervise/validation.ts";

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
