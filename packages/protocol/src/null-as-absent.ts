import * as z from "zod";
import { isObject } from "./base/json-walk.ts";
import { fields } from "./fields.ts";

type Fields = Record<string, unknown>;

const hasDefault = (schema: z.core.$ZodType): schema is z.ZodDefault | z.ZodPrefault =>
  schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;

/** The schema of a field that reads null like an absent field, where the field may be absent. */
const tolerantField = (schema: z.core.$ZodType): z.core.$ZodType => {
  if (schema instanceof z.ZodOptional) return z.optional(z.nullable(schema.unwrap()));
  return hasDefault(schema) ? z.nullable(schema) : schema;
};

const readsNullAsAbsent = (schema: z.core.$ZodType): boolean =>
  schema instanceof z.ZodOptional ||
  hasDefault(schema) ||
  (schema instanceof z.ZodNullable && hasDefault(schema.unwrap()));

/** The names of the fields that are absent where they are null. */
const namesToDrop = (shape: z.core.$ZodLooseShape): readonly string[] =>
  Object.keys(shape).filter((name) => readsNullAsAbsent(shape[name] as z.core.$ZodType));

/** The object itself, or a copy in which `replace` has changed those of the fields that are null. */
const replaceNulls = (
  value: Fields,
  names: readonly string[],
  replace: (copy: Fields, name: string) => void,
): Fields => {
  let copy: Fields | undefined;
  for (const name of names) {
    if (value[name] !== null || !Object.hasOwn(value, name)) continue;
    copy ??= { ...value };
    replace(copy, name);
  }
  return copy ?? value;
};

/**
 * @internal As `z.object`, for messages of other implementations: an optional field that is null is absent, and is not in
 * what is parsed. A required field is as its own schema says, also where that takes null. Fields that the shape does not
 * have are left out, or kept as `catchall` takes them.
 */
export const tolerant = <Shape extends z.core.$ZodLooseShape>(
  build: () => Shape,
  catchall?: z.ZodType,
): z.ZodObject<Shape, z.core.$strip> => {
  const shape = fields(build);
  const tolerantShape = fields(() =>
    Object.fromEntries(
      Object.entries(shape).map(([name, field]) => [name, tolerantField(field as z.core.$ZodType)]),
    ),
  );
  let names: readonly string[] | undefined;
  const dropNulls = z.overwrite<Fields>((value) => {
    names ??= namesToDrop(shape);
    return replaceNulls(value, names, (copy, name) => {
      const field = shape[name] as z.core.$ZodType;
      if (hasDefault(field)) copy[name] = field.parse(undefined);
      else delete copy[name];
    });
  });
  return new z.ZodObject({
    type: "object",
    shape: tolerantShape,
    catchall,
    checks: [dropNulls],
  }) as z.ZodType as z.ZodObject<Shape, z.core.$strip>;
};

/**
 * Returns a value as it is sent: without the fields that a schema of `tolerant` reads as absent, at any
 * depth, and with all others, also those that the schema does not know. The value itself where it has no such field.
 */
export const withoutNulls = (schema: z.core.$ZodType, value: unknown): unknown => {
  if (schema instanceof z.ZodObject) return isObject(value) ? fieldsWithoutNulls(schema, value) : value;
  if (schema instanceof z.ZodArray) {
    return Array.isArray(value) ? keepSame(value, (entry) => withoutNulls(schema.element, entry)) : value;
  }
  if (schema instanceof z.ZodUnion) {
    const option = schema.options.find((each) => z.safeParse(each, value).success);
    return option ? withoutNulls(option, value) : value;
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || hasDefault(schema)) {
    return withoutNulls(schema.unwrap(), value);
  }
  return value;
};

const keepSame = (list: readonly unknown[], change: (entry: unknown) => unknown): readonly unknown[] => {
  const changed = list.map(change);
  return changed.some((entry, index) => entry !== list[index]) ? changed : list;
};

const fieldsWithoutNulls = (schema: z.ZodObject, value: Fields): Fields => {
  let kept = replaceNulls(value, namesToDrop(schema.shape), (copy, name) => {
    delete copy[name];
  });
  for (const [name, field] of Object.entries(schema.shape)) {
    if (!Object.hasOwn(kept, name)) continue;
    const found = withoutNulls(field, kept[name]);
    if (found !== kept[name]) kept = { ...kept, [name]: found };
  }
  return kept;
};
