import * as z from "zod";
import { tolerant } from "../null-as-absent.ts";

/** Something that is known, and from where. */
export const FactSchema = tolerant(() => ({
  content: z.string(),
  source: z.string(),
  confidence: z.number(),
}));
export type Fact = z.infer<typeof FactSchema>;

/** One of the names of the protocol, or an object whose one key says that the name is the sender's own. */
export const namedOr = <const Names extends readonly [string, ...string[]], const Key extends string>(
  names: Names,
  key: Key,
) => z.union([z.enum(names), z.strictObject({ [key]: z.string() } as { [K in Key]: z.ZodString })]);
