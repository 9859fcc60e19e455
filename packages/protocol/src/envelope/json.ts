import { z } from "zod";
import { keepJson, keepJsonObject } from "./keep-json.ts";

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** Any JSON object. */
export type JsonObject = { [key: string]: JsonValue };

interface JsonDef extends z.core.$ZodLazyDef {
  /** Gives the value as it is to be kept, or undefined where zod has to judge. */
  readonly keep: (value: unknown) => JsonValue | undefined;
}

/**
 * A schema of JSON with a quick way in: one pass over the value, many times faster than zod's, because any JSON may be
 * most of a message. Where that pass does not know, zod's own schema decides and says what is wrong and where. It also
 * makes the JSON Schema.
 */
const JsonType = z.core.$constructor<z.ZodLazy, JsonDef>("JsonType", (schema, def) => {
  z.ZodLazy.init(schema, def);
  const { parse } = schema._zod;
  schema._zod.parse = (payload, context) => {
    const kept = def.keep(payload.value);
    if (kept === undefined) return parse(payload, context);
    payload.value = kept;
    return payload;
  };
});

const jsonType = <T extends JsonValue>(keep: JsonDef["keep"], getter: () => z.ZodType<T>) =>
  new JsonType({ type: "lazy", keep, getter }) as z.ZodType as z.ZodType<T>;

/**
 * Any JSON value. A key `__proto__` is dropped at any depth; a value without one is given back itself and not copied.
 * The codecs bound its depth before it gets here.
 */
export const JsonValueSchema: z.ZodType<JsonValue> = jsonType(keepJson, () =>
  z.union([
    z.string(),
    z.number(),
    z.boolean(),
    z.null(),
    z.array(JsonValueSchema),
    z.record(z.string(), JsonValueSchema),
  ]),
);

/** Any JSON object, as {@link JsonValueSchema} takes it. */
export const JsonObjectSchema: z.ZodType<JsonObject> = jsonType(keepJsonObject, () =>
  z.record(z.string(), JsonValueSchema),
);
