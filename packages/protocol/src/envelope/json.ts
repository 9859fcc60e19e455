import * as z from "zod";
import { quickSchema } from "../quick-schema.ts";
import { keepJson, keepJsonObject } from "./keep-json.ts";

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** Any JSON object. */
export type JsonObject = { [key: string]: JsonValue };

/**
 * Any JSON value. A key `__proto__` is dropped at any depth; a value without one is given back itself and not copied.
 * The codecs bound its depth before it gets here.
 */
export const JsonValueSchema: z.ZodType<JsonValue> = quickSchema(
  z.lazy(() =>
    z.union([
      z.string(),
      z.number(),
      z.boolean(),
      z.null(),
      z.array(JsonValueSchema),
      z.record(z.string(), JsonValueSchema),
    ]),
  ),
  keepJson,
);

/** Any JSON object, as {@link JsonValueSchema} takes it. */
export const JsonObjectSchema: z.ZodType<JsonObject> = quickSchema(
  z.lazy(() => z.record(z.string(), JsonValueSchema)),
  keepJsonObject,
);
