import * as z from "zod";
import { quickSchema } from "../quick-schema.ts";

/**
 * @internal A whole number from 0 on, as JSON Schema's `integer` has it: also one that is larger than a double can tell
 * from its neighbours, which `z.int()` refuses.
 */
export const WholeSchema = quickSchema(
  z
    .number()
    .nonnegative()
    .refine((value) => Number.isInteger(value), { message: "expected a whole number" })
    .meta({ type: "integer" }),
  (value) => (Number.isInteger(value) && (value as number) >= 0 ? value : undefined),
);
