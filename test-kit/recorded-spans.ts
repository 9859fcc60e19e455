import { context, SpanKind, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

/** The OpenTelemetry SDK of this process, which keeps the spans in memory until it is disposed of. */
export class RecordedSpans implements AsyncDisposable {
  readonly #exporter = new InMemorySpanExporter();
  readonly #provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(this.#exporter)],
  });

  constructor() {
    trace.setGlobalTracerProvider(this.#provider);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  }

  /** The spans that have ended. */
  get all(): ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  named(name: string): ReadableSpan[] {
    return this.all.filter((span) => span.name === name);
  }

  /** The one span of a name. */
  one(name: string, kind?: SpanKind): ReadableSpan {
    const found = this.named(name).filter((span) => kind === undefined || span.kind === kind);
    const [span, another] = found;
    if (span === undefined || another !== undefined) {
      const names = this.all.map((each) => `${each.name} (${SpanKind[each.kind]})`);
      throw new Error(`${found.length} spans ${name} among ${names.join(", ")}`);
    }
    return span;
  }

  /** Everything that was exported, as one string. */
  get text(): string {
    const plain = this.all.map(({ name, attributes, events, status, links }) => {
      return { name, attributes, events, status, links };
    });
    return JSON.stringify(plain);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#provider.shutdown();
    trace.disable();
    context.disable();
  }
}

/** The id of the span that another one belongs to. */
export const parentOf = (span: ReadableSpan): string | undefined => span.parentSpanContext?.spanId;

export const idOf = (span: ReadableSpan): string => span.spanContext().spanId;

export const traceOf = (span: ReadableSpan): string => span.spanContext().traceId;

export const linksOf = (span: ReadableSpan): string[] => span.links.map((link) => link.context.spanId);

/** What travels with messages of a span. */
export const traceparentOf = (span: ReadableSpan): string => `00-${traceOf(span)}-${idOf(span)}-01`;
