import { z } from "zod";

const shape =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt ](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const maxLength = 64;

/** A point in time in any form of RFC 3339: lower case, a space before the time and a leap second among them. */
export const Rfc3339Schema = z.string().max(maxLength).regex(shape);

/** Whether a value is a point in time in any form of RFC 3339, as the schemas of the protocols take it. */
export const isRfc3339 = (value: unknown): value is string =>
  typeof value === "string" && value.length <= maxLength && shape.test(value);
