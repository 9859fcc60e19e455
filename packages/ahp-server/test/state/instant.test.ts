import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../scripts/lib/nightly.ts";
import { toInstant } from "../../src/state/instant.ts";

const pad = (value: number): string => String(value).padStart(2, "0");

describe("an instant", () => {
  it("is that of Date for every form that Date takes", () => {
    const time = fc.date({
      min: new Date("1970-01-01T00:00:00Z"),
      max: new Date("9999-12-30T00:00:00Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(time, fc.integer({ min: -1439, max: 1439 }), (date, offset) => {
        expect(toInstant(date.toISOString())).toBeCloseTo(date.getTime(), 1);
        const zone = `${offset < 0 ? "-" : "+"}${pad(Math.floor(Math.abs(offset) / 60))}:${pad(Math.abs(offset) % 60)}`;
        const text = date.toISOString().replace("Z", zone);
        expect(toInstant(text)).toBeCloseTo(Date.parse(text), 1);
      }),
      { numRuns: runs(200) },
    );
  });

  it.each([
    ["2026-05-01t00:00:00z", "2026-05-01T00:00:00Z"],
    ["2026-05-01 02:30:00+02:30", "2026-05-01T00:00:00Z"],
    ["2026-04-30T23:59:60Z", "2026-05-01T00:00:00Z"],
    ["2026-05-01T00:00:00.000000000Z", "2026-05-01T00:00:00Z"],
  ])("is the same for %s as for %s", (text, other) => {
    expect(toInstant(text)).toBe(Date.parse(other));
  });

  it("tells microseconds apart", () => {
    expect(toInstant("2026-05-01T00:00:00.000002Z")).toBeGreaterThan(
      toInstant("2026-05-01T00:00:00.000001Z"),
    );
  });
});
