import {
  type Span as ApiSpan,
  type Context,
  context,
  createContextKey,
  ProxyTracer,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { SpanKind } from "./span-kind.ts";
import { type TraceContext, toSpanContext, toTraceContext } from "./trace-context.ts";

type ListOf<Value> = (Value | null | undefined)[];
type AttributeValue = string | number | boolean | ListOf<string> | ListOf<number> | ListOf<boolean>;
type Attributes = { [name: string]: AttributeValue | undefined };

/** Attributes by their names; what is undefined or null is left out. */
export type SpanAttributes = { readonly [name: string]: AttributeValue | null | undefined };

/** What a span begins with. */
export interface SpanStart {
  readonly name: string;
  /** @default `SpanKind.INTERNAL` */
  readonly kind?: SpanKind | undefined;
  readonly attributes?: SpanAttributes | undefined;
  /** Prompts, inputs and outputs by the names of their attributes: recorded where `@harnesskit/otel` was asked for content. */
  readonly content?: Readonly<Record<string, unknown>> | undefined;
  /** The histogram of its duration, which `@harnesskit/otel` records. */
  readonly metric: string;
  /** What it belongs to. @default the active span */
  readonly parent?: TraceContext | undefined;
  /** Other spans that led to this one, perhaps in other traces. */
  readonly links?: readonly (TraceContext | undefined)[] | undefined;
  /** Milliseconds since the epoch. @default now */
  readonly startedAtMs?: number | undefined;
  /** Binds the session of all that it starts; null: of none. @default the session that is bound */
  readonly sessionId?: string | null | undefined;
  /** A success has the status OK, as OpenArmature wants it of nodes and invocations; others leave it unset. */
  readonly marksSuccess?: boolean | undefined;
}

/** What `@harnesskit/otel` adds to the spans of a process. */
export interface SpanExtras {
  /** Content as the text of an attribute; undefined for what is not to be recorded. Left out: no content is. */
  readonly content?: ((attribute: string, value: unknown) => string | undefined) | undefined;
  /** Called when a span has ended, also one that no sampler chose. */
  ended(metric: string, attributes: Attributes, seconds: number): void;
}

/**
 * On the global object, so that every copy of this module in a process, bundled or not, has the same. In an object of its own: each call reads
 * it, and a member of the global object is slow to read.
 */
const extrasKey = Symbol.for("harnesskit.spans.1");
const shared = globalThis as { [extrasKey]?: { extras?: SpanExtras | undefined } };
shared[extrasKey] ??= {};
const slot = shared[extrasKey];

const spanExtras = (): SpanExtras | undefined => slot.extras;

/** Records content or metrics of all roles of this process from now on; undefined: neither. */
export const setSpanExtras = (extras: SpanExtras | undefined): void => {
  slot.extras = extras;
};

const maxNameLength = 256;
const sessionAttribute = "openarmature.session_id";
const sessionKey = createContextKey("harnesskit session");

/** Names and ids are bounded: peers choose some of them. */
const bounded = (value: string): string =>
  value.length <= maxNameLength ? value : `${value.slice(0, maxNameLength - 1)}…`;

const boundedValue = (value: AttributeValue): AttributeValue => {
  if (typeof value === "string") return bounded(value);
  if (!Array.isArray(value)) return value;
  return value.slice(0, 128).map((entry) => (typeof entry === "string" ? bounded(entry) : entry)) as string[];
};

/** A code; the name of anything else that was thrown. Never its message, which is content. */
const codeOf = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return "error";
  const { code, name } = error as { code?: unknown; name?: unknown };
  return typeof code === "string" ? code : typeof name === "string" ? name : "error";
};

/** The session that is bound here. */
export const activeSession = (): string | undefined => {
  const session = context.active().getValue(sessionKey);
  return typeof session === "string" ? session : undefined;
};

/** A span that was begun. Its methods never throw. */
export class Span {
  /** What travels with messages of it. */
  readonly context: TraceContext | undefined;
  readonly #span: ApiSpan;
  readonly #active: Context;
  readonly #start: SpanStart;
  readonly #startedAtMs: number;
  /** For metrics, which count what no sampler chose, too. */
  readonly #attributes: Attributes;
  #isFailed = false;
  #isEnded = false;

  /** @internal */
  constructor(span: ApiSpan, active: Context, start: SpanStart, attributes: Attributes) {
    this.#span = span;
    this.#active = active;
    this.#start = start;
    this.#startedAtMs = start.startedAtMs ?? Date.now();
    this.#attributes = attributes;
    this.context = toTraceContext(span.spanContext());
    if (start.content !== undefined) this.content(start.content);
  }

  /** Runs work, and all that it starts, as a part of it. */
  run<T>(work: () => T): T {
    return context.with(this.#active, work);
  }

  /** Adds what became known. */
  set(attributes: SpanAttributes): void {
    if (this.#isEnded) return;
    const known = knownAttributes(attributes);
    Object.assign(this.#attributes, known);
    this.#span.setAttributes(known);
  }

  /** Adds prompts, inputs and outputs where they are wanted. */
  content(values: Readonly<Record<string, unknown>>): void {
    const toText = this.#isEnded || !this.#span.isRecording() ? undefined : spanExtras()?.content;
    if (toText === undefined) return;
    for (const [name, value] of Object.entries(values)) {
      const text = value === undefined ? undefined : toText(name, value);
      if (text !== undefined) this.#span.setAttribute(name, text);
    }
  }

  /** It has failed with this code, whatever it ends with; undefined: it has not. */
  fail(code: string | undefined): void {
    if (code === undefined || this.#isEnded) return;
    this.#isFailed = true;
    this.set({ "error.type": code });
    this.#span.setStatus({ code: SpanStatusCode.ERROR, message: bounded(code) });
  }

  /**
   * Ends it; later calls do nothing. An error counts by its code: its message is content.
   *
   * @param endedAtMs milliseconds since the epoch; now, if it is left out
   */
  end(error?: unknown, endedAtMs?: number): void {
    if (this.#isEnded) return;
    if (error !== undefined && !this.#isFailed) this.fail(codeOf(error));
    this.#isEnded = true;
    const { metric, marksSuccess } = this.#start;
    if (marksSuccess && !this.#isFailed) this.#span.setStatus({ code: SpanStatusCode.OK });
    this.#span.end(endedAtMs);
    const seconds = Math.max(0, (endedAtMs ?? Date.now()) - this.#startedAtMs) / 1000;
    spanExtras()?.ended(metric, this.#attributes, seconds);
  }
}

const knownAttributes = (given: SpanAttributes): Attributes => {
  const known: Attributes = {};
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && value !== null) known[name] = boundedValue(value);
  }
  return known;
};

const toLinks = (carried: readonly (TraceContext | undefined)[]) => {
  const contexts = carried.map(toSpanContext).filter((linked) => linked !== undefined);
  const unique = new Map(contexts.map((linked) => [linked.spanId, linked]));
  return [...unique.values()].map((linked) => ({ context: linked }));
};

/** Begins a span with the OpenTelemetry API. Undefined where nothing observes: then `start` is not called; and where it gives none. */
export const startSpan = (start: () => SpanStart | undefined): Span | undefined => {
  const tracer = trace.getTracer("harnesskit");
  // A proxy stands for an SDK that is not registered; the extras show one that has metrics alone.
  if (tracer instanceof ProxyTracer && spanExtras() === undefined) return undefined;
  const given = start();
  if (given === undefined) return undefined;
  const { name, kind = SpanKind.INTERNAL, parent, links = [], startedAtMs: startTime, sessionId } = given;
  const remote = toSpanContext(parent);
  const around = remote ? trace.setSpanContext(context.active(), remote) : context.active();
  const base = sessionId === undefined ? around : around.setValue(sessionKey, sessionId);
  const session = base.getValue(sessionKey) as string | null | undefined;
  const attributes = knownAttributes({ [sessionAttribute]: session, ...given.attributes });
  const options = { kind, attributes, links: toLinks(links), ...(startTime !== undefined && { startTime }) };
  const span = tracer.startSpan(bounded(name), options, base);
  return new Span(span, trace.setSpan(base, span), given, { ...attributes });
};

/** Runs work within a span, where there is one. */
export const inSpan = <T>(span: Span | undefined, work: () => T): T =>
  span === undefined ? work() : span.run(work);

/** Does work in a span, which ends when the work has. Without an SDK, only the work is done, and gets undefined. */
export const traced = <R>(start: () => SpanStart, work: (span?: Span) => R): R | Promise<Awaited<R>> => {
  const span = startSpan(start);
  if (span === undefined) return work();
  return span.run(async (): Promise<Awaited<R>> => {
    try {
      const result = await work(span);
      span.end();
      return result;
    } catch (error) {
      span.end(error);
      throw error;
    }
  });
};
