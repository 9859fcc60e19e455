import { readChart } from "@harnesskit/shell-client/cards";
import fc from "fast-check";
import { expect, it } from "vitest";
import { axisText, createScale } from "../src/components/chart-scale.ts";

it("has round ticks around whatever it shows", () => {
  expect(createScale({ min: 0, max: 11.3 }).ticks).toEqual([0, 5, 10, 15]);
  expect(createScale({ min: -3, max: 4 }).ticks).toEqual([-4, -2, 0, 2, 4]);
  expect([12_500, 0.25, 1e-9, 3e20].map(axisText)).toEqual(["12.5K", "0.25", "1.0e-9", "3.0e+20"]);
  fc.assert(
    fc.property(
      fc.array(fc.double({ noNaN: true, noDefaultInfinity: true, min: -8e307 }), {
        minLength: 1,
        maxLength: 20,
      }),
      (values) => {
        const chart = readChart({ points: values.map((value) => ({ value })) });
        if (chart === undefined) return;
        const { min, max, ticks } = createScale(chart.range);
        expect(ticks.length).toBeLessThanOrEqual(13);
        expect([min, max, ...ticks].every(Number.isFinite)).toBe(true);
        expect(max).toBeGreaterThan(min);
        expect(values.every(Number.isFinite) && Number.isFinite(max - min)).toBe(true);
      },
    ),
  );
});
