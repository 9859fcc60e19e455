import type { z } from "zod";

/**
 * Gives a schema a quick way in: `keep` looks at what nearly every value is and gives it as the schema would, or
 * undefined where it does not know; then the schema itself decides and says what is wrong. Changes the schema, and
 * gives it back.
 */
export const quickSchema = <T extends z.ZodType>(schema: T, keep: (value: unknown) => unknown): T => {
  const { parse } = schema._zod;
  const quick: typeof parse = (payload, context) => {
    const kept = keep(payload.value);
    if (kept === undefined) return parse(payload, context);
    payload.value = kept;
    return payload;
  };
  // A schema without checks runs its parse without asking for it again.
  if (schema._zod.run === parse) schema._zod.run = quick;
  schema._zod.parse = quick;
  return schema;
};
