/** A round step that cuts a span into about so many parts. */
const roundStep = (span: number, parts: number): number => {
  const rough = span / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 2.5, 5, 10].find((step) => step * power >= rough) ?? 10;
  return factor * power;
};

export interface Scale {
  readonly min: number;
  readonly max: number;
  readonly ticks: readonly number[];
}

/** An axis with round ticks that holds a range. */
export const createScale = (
  { min, max }: { readonly min: number; readonly max: number },
  parts = 4,
): Scale => {
  const step = roundStep(max - min, parts);
  const first = Math.floor(min / step);
  const last = Math.ceil(max / step);
  const count = Math.min(last - first, parts * 3);
  const ticks = Array.from({ length: count + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
  const [low = min, high = max] = [ticks[0], ticks.at(-1)];
  if (Number.isFinite(high - low)) return { min: low, max: high, ticks };
  // What is as large as numbers are has no round step beyond it.
  return { min, max, ticks: ticks.filter((tick) => tick >= min && tick <= max) };
};

const wholes = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });

/** A number as an axis shows it. */
export const axisText = (value: number): string => {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e15 || size < 1e-4)) return value.toExponential(1);
  return size >= 10_000 ? compact.format(value) : wholes.format(value);
};
