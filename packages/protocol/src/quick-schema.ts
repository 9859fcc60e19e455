import * as z from "zod";

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

const isText: Keep = (value) => (typeof value === "string" ? value : undefined);

/** The fewest characters that the checks of a text ask for; undefined where they ask for something else. */
const minLengthOf = ({ def }: z.ZodString): number | undefined => {
  const [check, ...others] = def.checks ?? [];
  const known = check?._zod.def as { readonly check: string; readonly minimum?: number } | undefined;
  return others.length === 0 && known?.check === "min_length" ? known.minimum : undefined;
};

const keepText = (schema: z.ZodString): Keep | undefined => {
  if (!schema.def.checks?.length) return isText;
  const minLength = minLengthOf(schema);
  if (minLength === undefined) return undefined;
  return (value) => (typeof value === "string" && value.length >= minLength ? value : undefined);
};

const keepList = (schema: z.ZodArray): Keep | undefined => {
  if (schema.def.checks?.length) return undefined;
  const keepEach = keepOf(schema.element);
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    let isWhole = true;
    for (const entry of value) {
      const kept = keepEach(entry);
      if (kept === undefined) return undefined;
      if (kept !== entry) isWhole = false;
    }
    return isWhole ? value : value.map((entry) => keepEach(entry));
  };
};

const keepPlain = (schema: z.core.$ZodType): Keep | undefined => {
  if (schema instanceof z.ZodString) return keepText(schema);
  if (schema instanceof z.ZodArray) return keepList(schema);
  if (schema instanceof z.ZodBoolean) return (value) => (typeof value === "boolean" ? value : undefined);
  if (!(schema instanceof z.ZodEnum)) return undefined;
  const values = new Set<unknown>(schema.options);
  return (value) => (values.has(value) ? value : undefined);
};

/** The keep of any schema: its own, that of a plain type, or what it says by itself. */
export const keepOf = (schema: z.core.$ZodType): Keep =>
  keeps.get(schema) ??
  keepPlain(schema) ??
  ((value) => {
    const { issues, value: kept } = schema._zod.run({ value, issues: [] }, { async: false }) as {
      issues: readonly unknown[];
      value: unknown;
    };
    return issues.length === 0 ? kept : undefined;
  });

/** What a value was parsed to, or where it is wrong, as `request.context`. */
export type Parsed<T> = { readonly data: T } | { readonly path: string };

/** As the schema's `safeParse`, at once where it has a quick way in that takes the value. */
export const quickSafeParse = <Result>(
  schema: { safeParse(value: unknown): Result },
  value: unknown,
): Result => {
  const kept = keeps.get(schema as unknown as z.ZodType)?.(value);
  return kept === undefined ? schema.safeParse(value) : ({ success: true, data: kept } as Result);
};

/** The same, for who needs to know of what is wrong only where it is. */
export const quickParse = <T extends z.ZodType>(schema: T, value: unknown): Parsed<z.output<T>> => {
  const parsed = quickSafeParse(schema, value);
  if (parsed.success) return { data: parsed.data };
  return { path: parsed.error.issues[0]?.path.map(String).join(".") ?? "" };
};
