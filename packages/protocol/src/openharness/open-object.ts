import { z } from "zod";
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
  const known = keepsOf(shape);
  return quickSchema(z.object(shape).catchall(OpenValueSchema), (value) => {
    if (!isOrdinary(value)) return undefined;
    for (const { name, keep, isOptional } of known) {
      const found = value[name];
      // A field that is changed on its way is left to the schema.
      if (found === undefined ? !isOptional || name in value : keep(found) !== found) return undefined;
    }
    return keepOpenObject(value);
  });
};

/** @internal An object of which only known fields are kept. */
export const closedShape = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => {
  const known = keepsOf(shape);
  return quickSchema(z.object(shape), (value) => {
    if (!isOrdinary(value)) return undefined;
    const kept: Record<string, unknown> = {};
    for (const { name, keep, isOptional } of known) {
      const found = value[name];
      if (found === undefined) {
        if (!isOptional || name in value) return undefined;
        continue;
      }
      const field = keep(found);
      if (field === undefined) return undefined;
      kept[name] = field;
    }
    return kept;
  });
};

interface KnownField {
  readonly name: string;
  readonly keep: Keep;
  readonly isOptional: boolean;
}

const keepsOf = (shape: z.core.$ZodLooseShape): readonly KnownField[] =>
  Object.entries(shape).map(([name, schema]) => {
    const isOptional = schema instanceof z.ZodOptional;
    return { name, keep: keepOf(isOptional ? schema.unwrap() : schema), isOptional };
  });
