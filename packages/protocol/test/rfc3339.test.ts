import { isRfc3339 } from "@harnesskit/protocol/envelope";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { Rfc3339Schema } from "../src/rfc3339.ts";

const isTaken = (text: string): boolean => {
  const taken = isRfc3339(text);
  expect(Rfc3339Schema.safeParse(text).success, text).toBe(taken);
  return taken;
};

const two = (value: number): string => String(value).padStart(2, "0");
const dayOf = (year: number, month: number, day: number): string =>
  `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T00:00:00Z`;

describe("a time of RFC 3339", () => {
  it.each([
    "2026-02-30T00:00:00Z",
    "2026-02-31T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "2100-02-29T00:00:00Z",
    "1900-02-29t00:00:00.5z",
    "2026-04-31T00:00:00Z",
    "2026-06-31 00:00:00+02:00",
    "2026-09-31T00:00:00Z",
    "2026-11-31T23:59:60Z",
    "2026-01-32T00:00:00Z",
    "2026-01-00T00:00:00Z",
  ])("is not %s, a day that the month does not have", (text) => {
    expect(isTaken(text)).toBe(false);
  });

  it.each(["2024-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "0000-02-29T00:00:00Z", "2026-12-31T23:59:60Z"])(
    "is %s",
    (text) => {
      expect(isTaken(text)).toBe(true);
    },
  );

  it("has the days of the calendar, of every year and month", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9999 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 31 }),
        (year, month, day) => {
          const found = new Date(0);
          found.setUTCFullYear(year, month - 1, day);
          expect(isTaken(dayOf(year, month, day))).toBe(found.getUTCMonth() === month - 1);
        },
      ),
      { numRuns: runs(200) },
    );
  });
});
