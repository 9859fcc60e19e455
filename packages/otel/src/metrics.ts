import type { OperationName } from "@harnesskit/wire/trace";
import { type Attributes, type Histogram, type Meter, ValueType } from "@opentelemetry/api";
import { mapping, tokenUsage } from "./mapping.ts";

/** Seconds: as the GenAI conventions say, and on to a day for what waits for a human. */
const durationBoundaries = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 300, 900, 3600,
  14400, 86400,
];
const tokenBoundaries = [
  1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864,
];

/** The histograms of one meter, each made when it is first needed. */
export class Metrics {
  readonly #meter: Meter;
  readonly #histograms = new Map<string, Histogram>();

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** Counts an operation that has ended, with those of its attributes that metrics have. */
  ended(operation: OperationName, attributes: Attributes, seconds: number): void {
    const { duration, dimensions } = mapping[operation];
    const kept = pick(attributes, dimensions);
    this.#histogram(duration, "s").record(seconds, kept);
    if (operation !== "model") return;
    for (const type of ["input", "output"] as const) {
      const tokens = attributes[tokenUsage[type]];
      if (typeof tokens !== "number") continue;
      this.#histogram(tokenUsage.name, "{token}").record(tokens, { ...kept, [tokenUsage.type]: type });
    }
  }

  #histogram(name: string, unit: "s" | "{token}"): Histogram {
    let histogram = this.#histograms.get(name);
    if (histogram === undefined) {
      const isTokens = unit === "{token}";
      histogram = this.#meter.createHistogram(name, {
        unit,
        valueType: isTokens ? ValueType.INT : ValueType.DOUBLE,
        advice: { explicitBucketBoundaries: isTokens ? tokenBoundaries : durationBoundaries },
      });
      this.#histograms.set(name, histogram);
    }
    return histogram;
  }
}

const pick = (attributes: Attributes, names: readonly string[]): Attributes => {
  const picked: Attributes = {};
  for (const name of names) if (attributes[name] !== undefined) picked[name] = attributes[name];
  return picked;
};
