import * as z from "zod";

/**
 * @internal A schema with one check of its own, which costs a third of two or three of zod's. `json` is what the
 * published JSON Schema says of it.
 */
export const checked = <Schema extends z.ZodType>(
  schema: Schema,
  isValid: (value: z.output<Schema>) => boolean,
  message: string,
  json: z.GlobalMeta,
): Schema =>
  schema
    .check((payload) => {
      if (!isValid(payload.value)) payload.issues.push({ code: "custom", input: payload.value, message });
    })
    .meta(json) as Schema;

/** @internal A count, a size or a time: an integer of any size and sign, such as 2^64-1 (`z.int()` refuses it), or -1 for "unknown". */
export const IntegerSchema = checked(z.number(), Number.isInteger, "expected an integer", {
  type: "integer",
});

/** @internal A whole number from 0 on, of any size. */
export const WholeSchema = checked(
  z.number(),
  (value) => Number.isInteger(value) && value >= 0,
  "expected an integer from 0 on",
  { type: "integer", minimum: 0 },
);

/** @internal A string of 1 to `maxLength` characters. */
export const boundedString = (maxLength: number) =>
  checked(
    z.string(),
    ({ length }) => length > 0 && length <= maxLength,
    `expected a string of 1 to ${maxLength} characters`,
    { minLength: 1, maxLength },
  );
