import { isObject } from "@harnesskit/wire/json";
import { cardField, cardLine, cellText, firstOf } from "./values.ts";

export interface ChartSeries {
  readonly name: string;
  /** One for each label; undefined for a missing value. */
  readonly values: readonly (number | undefined)[];
}

/** A chart as it is shown: its texts are safe and cut, its numbers finite. */
export interface ChartModel {
  readonly kind: "bar" | "line";
  readonly labels: readonly string[];
  readonly series: readonly ChartSeries[];
  readonly unit: string | undefined;
  /** What the axis spans; zero is in it. */
  readonly range: { readonly min: number; readonly max: number };
  readonly hiddenPoints: number;
  readonly hiddenSeries: number;
}

/** What is shown of a chart at most. */
export const chartLimits: { readonly maxPoints: number; readonly maxSeries: number } = {
  maxPoints: 60,
  maxSeries: 6,
};

const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

interface Source {
  readonly labels: readonly unknown[];
  readonly series: readonly { readonly name: string; readonly values: readonly unknown[] }[];
}

/** `{ points: [{ label, value }] }`: one series. */
const fromPoints = (points: readonly unknown[]): Source => ({
  labels: points.map((point) => cardField(point, "label")),
  series: [{ name: "", values: points.map((point) => cardField(point, "value")) }],
});

/** `{ labels, series: [{ name, values }] }`. */
const fromSeries = (labels: unknown, series: readonly unknown[]): Source => ({
  labels: Array.isArray(labels) ? labels : [],
  series: series.flatMap((one, index) => {
    const values = cardField(one, "values");
    return Array.isArray(values) ? [{ name: cardLine(one, "name", 60) ?? `${index + 1}`, values }] : [];
  }),
});

const sourceOf = (data: unknown): Source | undefined => {
  const points = cardField(data, "points");
  if (Array.isArray(points)) return fromPoints(points);
  const series = cardField(data, "series");
  return Array.isArray(series) ? fromSeries(cardField(data, "labels"), series) : undefined;
};

/** Reads what a chart shows. Undefined for anything else, and for a chart without a number. */
export const readChart = (data: unknown): ChartModel | undefined => {
  const source = isObject(data) ? sourceOf(data) : undefined;
  if (source === undefined) return undefined;
  const { kept, hidden: hiddenSeries } = firstOf(source.series, chartLimits.maxSeries);
  const length = kept.reduce((most, { values }) => Math.max(most, values.length), 0);
  const count = Math.min(length, chartLimits.maxPoints);
  const indices = Array.from({ length: count }, (_, index) => index);
  const series = kept.map(({ name, values }) => ({
    name,
    values: indices.map((index) => numberOf(values[index])),
  }));
  const numbers = series.flatMap(({ values }) => values).filter((value) => value !== undefined);
  if (numbers.length === 0) return undefined;
  const max = Math.max(0, ...numbers);
  const min = Math.min(0, ...numbers);
  if (!Number.isFinite(max - min)) return undefined;
  return {
    kind: cardField(data, "kind") === "line" ? "line" : "bar",
    labels: indices.map((index) => cellText(source.labels[index], 60) || String(index + 1)),
    series,
    unit: cardLine(data, "unit", 20),
    range: { min, max: max === min ? min + 1 : max },
    hiddenPoints: length - count,
    hiddenSeries,
  };
};
