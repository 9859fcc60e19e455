import { createTraceState, isSpanContextValid, type SpanContext } from "@opentelemetry/api";

/** Where an operation belongs, in the words of W3C Trace Context: what travels with a message, or is kept with a record. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** Version 00 has four fields. A later one may have more behind them, and is read as far as it is known (section 3.2.4). */
const traceparentPattern =
  /^(?:00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}|(?!00|ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[\x21-\x7e]*)?)$/;
const tracestatePattern = /^[\x20-\x7e\t]*$/;

/** Characters of a `traceparent`; one of version 00 has 55. */
const maxTraceparentLength = 128;
/** Characters of a `tracestate` (section 3.3.1.5); a longer one is left out. */
const maxTracestateLength = 512;

/** Whether a value is a `traceparent` of W3C Trace Context. */
export const isTraceparent = (value: unknown): value is string =>
  typeof value === "string" && value.length <= maxTraceparentLength && traceparentPattern.test(value);

/**
 * Reads `traceparent` and `tracestate` of what a peer sent: headers, `_meta`, `metadata`. Undefined where there is none, or one that
 * is malformed or too long: then a new trace begins (section 3.2.2). A `tracestate` alone means nothing. Never throws.
 */
export const readTraceContext = (carrier: unknown): TraceContext | undefined => {
  if (typeof carrier !== "object" || carrier === null) return undefined;
  try {
    const { traceparent, tracestate } = carrier as { traceparent?: unknown; tracestate?: unknown };
    if (!isTraceparent(traceparent)) return undefined;
    const isUsable =
      typeof tracestate === "string" &&
      tracestate !== "" &&
      tracestate.length <= maxTracestateLength &&
      tracestatePattern.test(tracestate);
    return isUsable ? { traceparent, tracestate } : { traceparent };
  } catch {
    // A getter threw.
    return undefined;
  }
};

/** @internal The span that a peer, or a record, names; undefined for one that is malformed. */
export const toSpanContext = (carried: TraceContext | undefined): SpanContext | undefined => {
  const read = readTraceContext(carried);
  if (read === undefined) return undefined;
  const [, traceId = "", spanId = "", flags = "00"] = read.traceparent.split("-");
  const traceState = read.tracestate === undefined ? undefined : createTraceState(read.tracestate);
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(traceState && { traceState }),
  };
};

/** @internal A span as it travels; undefined for one of no trace, as without an SDK. */
export const toTraceContext = (span: SpanContext | undefined): TraceContext | undefined => {
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  const flags = (span.traceFlags & 1).toString(16).padStart(2, "0");
  const traceparent = `00-${span.traceId}-${span.spanId}-${flags}`;
  const tracestate = span.traceState?.serialize();
  return tracestate ? { traceparent, tracestate } : { traceparent };
};
