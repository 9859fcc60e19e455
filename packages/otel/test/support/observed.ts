import { metrics } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { RecordedSpans } from "../../../../test-kit/recorded-spans.ts";
import { type OtelOptions, registerOtel, unregisterOtel } from "../../src/index.ts";

class Observed extends RecordedSpans {
  readonly #exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #reader = new PeriodicExportingMetricReader({
    exporter: this.#exporter,
    exportIntervalMillis: 1 << 30,
  });
  readonly #meters = new MeterProvider({ readers: [this.#reader] });

  constructor(options: OtelOptions | "spans") {
    super();
    metrics.setGlobalMeterProvider(this.#meters);
    if (options !== "spans") registerOtel(options);
  }

  /** The data points by metric. */
  async measured(): Promise<Map<string, readonly { attributes: object; value: unknown }[]>> {
    await this.#reader.forceFlush();
    const scopes = this.#exporter.getMetrics().at(-1)?.scopeMetrics ?? [];
    return new Map(
      scopes.flatMap((scope) => scope.metrics.map((each) => [each.descriptor.name, each.dataPoints])),
    );
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    unregisterOtel();
    await this.#meters.shutdown();
    metrics.disable();
    await super[Symbol.asyncDispose]();
  }
}

/**
 * The OpenTelemetry SDK of this process with exporters in memory, until it is disposed of.
 *
 * @param options of `registerOtel`; `spans`: it is not called
 */
export const observed = (options: OtelOptions | "spans" = {}): Observed => new Observed(options);
