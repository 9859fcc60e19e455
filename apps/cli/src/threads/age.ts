import { usageError } from "../cli-error.ts";

const unitsMs: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000 };

/** The milliseconds of `30d`, `12h` or `90m`; undefined for anything else. */
export const readAgeMs = (text: string): number | undefined => {
  const [, count = "", unit = ""] = /^(\d{1,6})([dhm])$/.exec(text) ?? [];
  const unitMs = unitsMs[unit];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
};

/** The same. Throws a usage error for anything else. */
export const toAgeMs = (text: string, option = "--older-than"): number => {
  const age = readAgeMs(text);
  if (age !== undefined) return age;
  throw usageError(`${option}: ${text} is not an age`, "Write it as 30d, 12h or 90m");
};
