import { z } from "zod";

/** Gives a value as its schema would, or undefined where the schema itself has to look. */
export type Keep = (value: unknown) => unknown;

const keeps = new WeakMap<z.core.$ZodType, Keep>();

/**
 * Gives a schema a quick way in: `keep` looks at what nearly every value is and gives it as the schema would, or
 * undefined where it does not know; then the schema itself decides and says what is wrong. Changes the schema, and
 * gives it back.
 */
export const quickSchema = <T extends z.ZodType>(schema: T, keep: Keep): T => {
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
  keeps.set(schema, keep);
  return schema;
};

/** The keep of any schema: its own, that of a plain text, or what it says by itself. */
export const keepOf = (schema: z.core.$ZodType): Keep => {
  const known = keeps.get(schema);
  if (known) return known;
  if (schema instanceof z.ZodString && !schema.def.checks?.length) {
    return (value) => (typeof value === "string" ? value : undefined);
  }
  if (schema instanceof z.ZodArray && !schema.def.checks?.length) {
    const keepEach = keepOf(schema.element);
    return (value) => {
      if (!Array.isArray(value)) return undefined;
      const kept = value.map(keepEach);
      return kept.includes(undefined) ? undefined : kept;
    };
  }
  return (value) => {
    const { issues, value: kept } = schema._zod.run({ value, issues: [] }, { async: false }) as {
      issues: readonly unknown[];
      value: unknown;
    };
    return issues.length === 0 ? kept : undefined;
  };
};
