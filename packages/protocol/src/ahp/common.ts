import * as z from "zod";
import { JsonObjectSchema } from "../envelope/json.ts";
import { tolerantObject } from "../null-as-absent.ts";

/** `z.int()` refuses what a double cannot tell from its neighbours, such as 2^64-1. */
const integer = (schema: z.ZodNumber) =>
  schema
    .refine((value) => Number.isInteger(value), { message: "expected an integer" })
    .meta({ type: "integer" });

/** A count, a size or a time: an integer of any size and sign, such as 2^64-1, nanoseconds, or -1 for "unknown". */
export const IntegerSchema = integer(z.number());

/** How many decisions deep an event is: 0 for one that no other caused. */
export const DepthSchema = integer(z.number().nonnegative());

/** Arbitrary fields of whoever sends them. */
export const MetadataSchema = JsonObjectSchema;

/** Something that is known, and from where. */
export const FactSchema = tolerantObject({ content: z.string(), source: z.string(), confidence: z.number() });
export type Fact = z.infer<typeof FactSchema>;

/** One of the names of the protocol, or an object whose one key says that the name is the sender's own. */
export const namedOr = <const Names extends readonly [string, ...string[]], const Key extends string>(
  names: Names,
  key: Key,
) => z.union([z.enum(names), z.strictObject({ [key]: z.string() } as { [K in Key]: z.ZodString })]);
