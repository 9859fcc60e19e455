import type * as z from "zod";
import { type JsonObject, type JsonValue, jsonObjectSchema, jsonValueSchema } from "../envelope/json.ts";
import { tolerant } from "../null-as-absent.ts";

/** A number that is too large for JavaScript (`1e400`) is null, which it would become on its way out. */
const options = { nonFinite: "null" } as const;

/** @internal Any value of a field that the protocol leaves open. */
export const OpenValueSchema: z.ZodType<JsonValue> = jsonValueSchema(options);

/** @internal An object whose fields belong to its sender. */
export const openObject = (): z.ZodType<JsonObject> => jsonObjectSchema(options);

/** @internal An object with known fields and with others, which are kept. */
export const openShape = <Shape extends z.core.$ZodLooseShape>(build: () => Shape) =>
  tolerant(build, OpenValueSchema) as z.ZodType as z.ZodObject<
    Shape,
    z.core.$catchall<typeof OpenValueSchema>
  >;
