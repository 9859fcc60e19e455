import * as z from "zod";
import { type JsonObject, type JsonValue, JsonValueSchema } from "../envelope/json.ts";
import { isOrdinary, jsonKeeper } from "../envelope/keep-json.ts";
import { type Keep, keepOf, quickSchema } from "../quick-schema.ts";

/**
 * Keeps what belongs to somebody, with null in the place of a number that is too large for JavaScript (`1e400`), which is
 * what it would become on its way out.
 */
const open = jsonKeeper(null);

/** @internal Gives an object back: itself, or a copy without the keys `__proto__` in it. Undefined for what is no object of JSON. */
export const keepOpenObject = open.object;

/** @internal Any value of a field that nobody here knows. */
export const OpenValueSchema: z.ZodType<JsonValue> = quickSchema(
  z.lazy(() => JsonValueSchema),
  open.value,
);

/** @internal An object whose fields belong to whoever sends them. */
export const openObject = (): z.ZodType<JsonObject> =>
  quickSchema(z.record(z.string(), OpenValueSchema), keepOpenObject);

/** @internal An object with fields that are known, and with those that are not, which are kept. */
export const openShape = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => {
  const { fields, required } = knownFields(shape);
  return quickSchema(z.object(shape).catchall(OpenValueSchema), (value) => {
    if (!isOrdinary(value)) return undefined;
    let missing = required;
    for (const name in value) {
      const field = fields.get(name);
      const found = value[name];
      // What is changed on its way is left to the schema.
      if (found === undefined || (field?.keep ?? open.value)(found) !== found || name === "__proto__")
        return undefined;
      if (field && !field.isOptional) missing--;
    }
    return missing === 0 ? value : undefined;
  });
};

/** @internal An object of which only known fields are kept. */
export const closedShape = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => {
  const { fields, required } = knownFields(shape);
  return quickSchema(z.object(shape), (value) => {
    if (!isOrdinary(value)) return undefined;
    let missing = required;
    let isWhole = true;
    for (const name in value) {
      const field = fields.get(name);
      if (field === undefined) {
        isWhole = false;
        continue;
      }
      const found = value[name];
      const kept = found === undefined ? undefined : field.keep(found);
      if (kept === undefined) return undefined;
      if (kept !== found) isWhole = false;
      if (!field.isOptional) missing--;
    }
    if (missing > 0) return undefined;
    return isWhole ? value : keepKnown(value, fields);
  });
};

interface KnownField {
  readonly keep: Keep;
  readonly isOptional: boolean;
}

type KnownFields = ReadonlyMap<string, KnownField>;

const knownFields = (shape: z.core.$ZodLooseShape): { fields: KnownFields; required: number } => {
  const entries = Object.entries(shape).map(([name, schema]): [string, KnownField] => {
    const isOptional = schema instanceof z.ZodOptional;
    return [name, { keep: keepOf(isOptional ? schema.unwrap() : schema), isOptional }];
  });
  return {
    fields: new Map(entries),
    required: entries.filter(([, { isOptional }]) => !isOptional).length,
  };
};

/** The known fields of an object whose fields are good. */
const keepKnown = (
  value: Readonly<Record<string, unknown>>,
  fields: KnownFields,
): Record<string, unknown> => {
  const kept: Record<string, unknown> = {};
  for (const [name, { keep }] of fields) {
    const found = value[name];
    if (found !== undefined) kept[name] = keep(found);
  }
  return kept;
};
