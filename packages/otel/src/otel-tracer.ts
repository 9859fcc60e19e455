import type {
  OperationName,
  Operations,
  StartOptions,
  TraceContext,
  TracedOperation,
  Tracer,
} from "@harnesskit/wire/trace";
import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  metrics,
  type Tracer as OtelApiTracer,
  type Span,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { boundedName } from "./content.ts";
import {
  conventionsVersion,
  errorAttribute,
  instrumentationName,
  type Mapping,
  mapping,
  sessionAttribute,
} from "./mapping.ts";
import { Metrics } from "./metrics.ts";
import { checkOtelTracerOptions } from "./option-names.ts";
import { toSpanContext, toTraceContext } from "./span-context.ts";

export interface OtelOptions {
  /**
   * Whether spans have prompts, inputs and outputs of tools, questions and suspensions. They may hold personal data and secrets.
   * @default false
   */
  readonly content?: boolean | undefined;
  /** Characters of each such attribute; the rest is cut. @default 4096 */
  readonly maxContentLength?: number | undefined;
}

/** The session that is active: its id, or null outside of one. */
const sessionKey = createContextKey("harnesskit session");

/** The id of the session of the work that is active here. */
export const activeSession = (): string | undefined => {
  const session = context.active().getValue(sessionKey);
  return typeof session === "string" ? session : undefined;
};

/** A category or a code; the name of anything else that was thrown. Never its message, which is content. */
const codeOf = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return "error";
  const { code, name } = error as { code?: unknown; name?: unknown };
  return boundedName(typeof code === "string" ? code : typeof name === "string" ? name : "error");
};

const boundedAttribute = (value: unknown): unknown => {
  if (typeof value === "string") return boundedName(value);
  return Array.isArray(value) ? value.slice(0, 128).map(boundedAttribute) : value;
};

class Operation<K extends OperationName> implements TracedOperation<K> {
  readonly context: TraceContext | undefined;
  readonly #span: Span;
  readonly #active: Context;
  readonly #operation: K;
  readonly #tracer: OtelTracer;
  readonly #attributes: Attributes = {};
  readonly #startedAtMs: number;
  #code: string | undefined;
  #isEnded = false;

  constructor(
    tracer: OtelTracer,
    operation: K,
    span: Span,
    active: Context,
    attributes: Attributes,
    startedAtMs: number,
  ) {
    this.#tracer = tracer;
    this.#operation = operation;
    this.#span = span;
    this.#active = active;
    this.#attributes = attributes;
    this.#startedAtMs = startedAtMs;
    this.context = toTraceContext(span.spanContext());
  }

  run<T>(work: () => T): T {
    return context.with(this.#active, work);
  }

  set(details: Partial<Operations[K]>): void {
    if (this.#isEnded) return;
    const attributes = this.#tracer.attributesOf(this.#operation, details);
    Object.assign(this.#attributes, attributes);
    this.#span.setAttributes(attributes);
    const { code, category } = details as { readonly code?: string; readonly category?: string };
    this.#code = code ?? category ?? this.#code;
  }

  link(carried: TraceContext | undefined): void {
    const linked = toSpanContext(carried);
    if (linked && !this.#isEnded) this.#span.addLink({ context: linked });
  }

  end(error?: unknown, endedAtMs?: number): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const code = this.#code ?? (error === undefined ? undefined : codeOf(error));
    if (code === undefined) this.#setOk();
    else {
      const failed = { [errorAttribute]: boundedName(code) };
      Object.assign(this.#attributes, failed);
      this.#span.setAttributes(failed).setStatus({ code: SpanStatusCode.ERROR, message: boundedName(code) });
    }
    this.#span.end(endedAtMs);
    const seconds = Math.max(0, (endedAtMs ?? Date.now()) - this.#startedAtMs) / 1000;
    this.#tracer.metrics.ended(this.#operation, this.#attributes, seconds);
  }

  /** OpenArmature sets OK on nodes and invocations, suspended ones included; the conventions leave the rest unset. */
  #setOk(): void {
    if (this.#operation !== "node" && this.#operation !== "invocation") return;
    this.#span.setStatus({ code: SpanStatusCode.OK });
  }
}

class OtelTracer implements Tracer {
  readonly metrics: Metrics;
  readonly #tracer: OtelApiTracer;
  readonly #content: boolean;
  readonly #maxContentLength: number;

  constructor({ content = false, maxContentLength = 4096 }: OtelOptions) {
    this.#tracer = trace.getTracer(instrumentationName, conventionsVersion);
    this.metrics = new Metrics(metrics.getMeter(instrumentationName, conventionsVersion));
    this.#content = content;
    this.#maxContentLength = maxContentLength;
  }

  start<K extends OperationName>(
    operation: K,
    details: Operations[K],
    { parent, links = [], startedAtMs }: StartOptions = {},
  ): TracedOperation<K> {
    const { name, kind, always } = mapping[operation] as Mapping<K>;
    const remote = toSpanContext(parent);
    const around = remote ? trace.setSpanContext(context.active(), remote) : context.active();
    const base = sessionOf(operation, details, around);
    const session = base.getValue(sessionKey);
    const attributes: Attributes = { ...always, ...this.attributesOf(operation, details) };
    if (typeof session === "string") attributes[sessionAttribute] = boundedName(session);
    const span = this.#tracer.startSpan(
      boundedName(name(details)),
      {
        kind,
        attributes,
        links: toLinks(links),
        ...(startedAtMs !== undefined && { startTime: startedAtMs }),
      },
      base,
    );
    const active = trace.setSpan(base, span);
    return new Operation(this, operation, span, active, attributes, startedAtMs ?? Date.now());
  }

  active(): TraceContext | undefined {
    return toTraceContext(trace.getSpanContext(context.active()));
  }

  within<T>(carried: TraceContext, work: () => T): T {
    const remote = toSpanContext(carried);
    return remote ? context.with(trace.setSpanContext(context.active(), remote), work) : work();
  }

  /** What of the details is known, as attributes. */
  attributesOf<K extends OperationName>(operation: K, details: Partial<Operations[K]>): Attributes {
    const { attributes, content } = mapping[operation] as Mapping<K>;
    const known: Attributes = {};
    for (const [name, value] of Object.entries(attributes(details))) {
      if (value !== undefined && value !== null) known[name] = boundedAttribute(value) as string;
    }
    if (!this.#content || content === undefined) return known;
    for (const [name, value] of Object.entries(content(details, this.#maxContentLength))) {
      if (value !== undefined && value !== null) known[name] = value;
    }
    return known;
  }
}

/** A run or a turn with a session binds it for all that it starts; one without is of none. */
const sessionOf = (operation: OperationName, details: object, around: Context): Context => {
  if (operation !== "invocation" && operation !== "chatTurn") return around;
  const { sessionId } = details as { readonly sessionId: string | null };
  return around.setValue(sessionKey, sessionId);
};

const toLinks = (carried: readonly (TraceContext | undefined)[]) => {
  const contexts = carried.map(toSpanContext).filter((linked) => linked !== undefined);
  const unique = new Map(contexts.map((linked) => [linked.spanId, linked]));
  return [...unique.values()].map((linked) => ({ context: linked }));
};

/** Makes a tracer for the roles, over the OpenTelemetry API of this process. */
export const createOtelTracer = (options: OtelOptions = {}): Tracer =>
  new OtelTracer(checkOtelTracerOptions(options));
