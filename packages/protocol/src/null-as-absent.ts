import * as z from "zod";

/** Where a schema of {@link tolerantObject} keeps the names of its optional fields; the published JSON Schema reads it too. */
const bagKey = "nullIsAbsent";

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const namesOf = (schema: z.core.$ZodType): readonly string[] =>
  (schema._zod.bag as Readonly<Record<string, readonly string[] | undefined>>)[bagKey] ?? [];

/** The object itself, or a copy without these fields where they are null. */
const dropNulls = (value: Record<string, unknown>, names: readonly string[]): Record<string, unknown> => {
  if (!names.some((name) => Object.hasOwn(value, name) && value[name] === null)) return value;
  const kept = { ...value };
  for (const name of names) if (kept[name] === null) delete kept[name];
  return kept;
};

/**
 * @internal As `z.object`, for what others send: an optional field that is null is absent, and what is parsed does not
 * have it. A required field is as its own schema says, also where that takes null.
 */
export const tolerantObject = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => {
  const schema = z.object(shape);
  const names = Object.keys(shape).filter((name) => shape[name]?._zod.optin !== undefined);
  (schema._zod.bag as Record<string, unknown>)[bagKey] = names;
  const { parse } = schema._zod;
  const tolerant: typeof parse = (payload, context) => {
    if (isRecord(payload.value)) payload.value = dropNulls(payload.value, names);
    return parse(payload, context);
  };
  // A schema without checks runs its parse without asking for it again.
  if (schema._zod.run === parse) schema._zod.run = tolerant;
  schema._zod.parse = tolerant;
  return schema;
};

/**
 * Gives a value as it is sent: without the fields that a schema of AHP reads as absent, at any depth, and with all
 * others, also those that the schema does not know. The value itself where it has no such field. Takes a value that the
 * schema accepts.
 */
export const withoutNulls = (schema: z.core.$ZodType, value: unknown): unknown => {
  if (schema instanceof z.ZodObject) return isRecord(value) ? fieldsWithoutNulls(schema, value) : value;
  if (schema instanceof z.ZodArray) {
    return Array.isArray(value) ? keepSame(value, (entry) => withoutNulls(schema.element, entry)) : value;
  }
  if (schema instanceof z.ZodUnion) {
    const option = schema.options.find((each) => z.safeParse(each, value).success);
    return option ? withoutNulls(option, value) : value;
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return withoutNulls(schema.def.innerType, value);
  }
  return value;
};

const keepSame = (list: readonly unknown[], change: (entry: unknown) => unknown): readonly unknown[] => {
  const changed = list.map(change);
  return changed.some((entry, index) => entry !== list[index]) ? changed : list;
};

const fieldsWithoutNulls = (schema: z.ZodObject, value: Record<string, unknown>): Record<string, unknown> => {
  let kept = dropNulls(value, namesOf(schema));
  for (const [name, field] of Object.entries(schema.shape)) {
    if (!Object.hasOwn(kept, name)) continue;
    const found = withoutNulls(field, kept[name]);
    if (found !== kept[name]) kept = { ...kept, [name]: found };
  }
  return kept;
};
