import { z } from "zod";

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** Any JSON object. */
export type JsonObject = { [key: string]: JsonValue };

/** Any JSON value. The codecs bound its depth before it gets here. */
export const JsonValueSchema: z.ZodType<JsonValue> = z.json();

/** Any JSON object. A key `__proto__` is dropped. */
export const JsonObjectSchema: z.ZodType<JsonObject> = z.record(z.string(), JsonValueSchema);
