import * as z from "zod";
import { checked } from "./checked.ts";

const shape =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt ](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const maxLength = 64;
const shortMonths: ReadonlySet<number> = new Set([4, 6, 9, 11]);

const isLeapYear = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

/** Whether the month has the day, in a string of this shape. Only a day above 28 needs the month. */
const hasDay = (text: string): boolean => {
  const day = Number(text.slice(8, 10));
  if (day <= 28) return true;
  const month = Number(text.slice(5, 7));
  if (month === 2) return day === 29 && isLeapYear(Number(text.slice(0, 4)));
  return day <= 30 || !shortMonths.has(month);
};

/** Whether a value is a point in time in any form of RFC 3339, as the schemas of the protocols take it. */
export const isRfc3339 = (value: unknown): value is string =>
  typeof value === "string" && value.length <= maxLength && shape.test(value) && hasDay(value);

/** A point in time in any form of RFC 3339: lower case, a space before the time and a leap second among them. */
export const Rfc3339Schema = checked(z.string(), isRfc3339, "expected a time as in RFC 3339", {
  maxLength,
  pattern: shape.source,
});
