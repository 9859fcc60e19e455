import { context, metrics, SpanKind, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { type OtelOptions, registerOtel, unregisterOtel } from "../../src/index.ts";

/**
 * The OpenTelemetry SDK of this process with exporters in memory, until it is disposed of.
 *
 * @param options of `registerOtel`; `spans`: it is not called
 */
export const observed = (options?: OtelOptions | "spans") => {
  const spans = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 1 << 30 });
  const meters = new MeterProvider({ readers: [reader] });
  trace.setGlobalTracerProvider(provider);
  metrics.setGlobalMeterProvider(meters);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  if (options !== "spans") registerOtel(options);
  const named = (name: string): ReadableSpan[] =>
    spans.getFinishedSpans().filter((span) => span.name === name);
  return {
    /** The spans that have ended. */
    get all(): ReadableSpan[] {
      return spans.getFinishedSpans();
    },
    named,
    /** The one span of a name. */
    one(name: string, kind?: SpanKind): ReadableSpan {
      const found = named(name).filter((span) => kind === undefined || span.kind === kind);
      const [span, another] = found;
      if (span === undefined || another !== undefined) {
        const names = spans.getFinishedSpans().map((each) => `${each.name} (${SpanKind[each.kind]})`);
        throw new Error(`${found.length} spans ${name} among ${names.join(", ")}`);
      }
      return span;
    },
    /** The data points by metric. */
    async measured(): Promise<Map<string, readonly { attributes: object; value: unknown }[]>> {
      await reader.forceFlush();
      const scopes = measured.getMetrics().at(-1)?.scopeMetrics ?? [];
      return new Map(
        scopes.flatMap((scope) => scope.metrics.map((each) => [each.descriptor.name, each.dataPoints])),
      );
    },
    /** Everything that was exported, as one text. */
    get text(): string {
      const plain = spans.getFinishedSpans().map(({ name, attributes, events, status, links }) => {
        return { name, attributes, events, status, links };
      });
      return JSON.stringify(plain);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      unregisterOtel();
      await meters.shutdown();
      await provider.shutdown();
      trace.disable();
      metrics.disable();
      context.disable();
    },
  };
};

/** The id of the span that another one belongs to. */
export const parentOf = (span: ReadableSpan): string | undefined => span.parentSpanContext?.spanId;

export const idOf = (span: ReadableSpan): string => span.spanContext().spanId;

export const traceOf = (span: ReadableSpan): string => span.spanContext().traceId;

export const linksOf = (span: ReadableSpan): string[] => span.links.map((link) => link.context.spanId);
