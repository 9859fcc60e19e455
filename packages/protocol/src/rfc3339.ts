import { z } from "zod";

/** A point in time in any form of RFC 3339: lower case, a space before the time and a leap second among them. */
export const Rfc3339Schema = z
  .string()
  .max(64)
  .regex(
    /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt ](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/,
  );
