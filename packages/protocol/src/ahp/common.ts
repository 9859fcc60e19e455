import { z } from "zod";
import { JsonObjectSchema } from "../envelope/json.ts";

/** A count, a size or a duration: an integer that is not negative. */
export const CountSchema = z.int().nonnegative();

/** Arbitrary fields of whoever sends them. */
export const MetadataSchema = JsonObjectSchema;

/** A point in time as RFC 3339 writes it. */
export const TimeSchema = z
  .string()
  .max(64)
  .regex(/^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/);

/** Something that is known, and from where. */
export const FactSchema = z.object({ content: z.string(), source: z.string(), confidence: z.number() });
export type Fact = z.infer<typeof FactSchema>;

/** One of the names of the protocol, or `{ custom: "…" }`. */
export const namedOrCustom = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z.union([z.enum(names), z.object({ custom: z.string() })]);
