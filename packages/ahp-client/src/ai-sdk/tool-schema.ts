import { asSchema, type Tool } from "ai";
import { checkJsonSchema, mismatchOf, type StandardSchema } from "../supervise/validation.ts";

/** The tool's schema, as the SDK reads arguments with it. One that cannot be checked accepts nothing. */
export const schemaOf = ({ inputSchema }: Tool): StandardSchema => ({
  "~standard": {
    async validate(value) {
      const schema = asSchema<unknown>(inputSchema);
      const validated = schema.validate
        ? await schema.validate(value)
        : checkJsonSchema(await schema.jsonSchema, value);
      if ("value" in validated) return { value: validated.value };
      const problem = "problem" in validated ? validated.problem : mismatchOf(validated.error);
      return { issues: [{ message: problem }] };
    },
  },
});
