import { readTraceContext, type TraceContext } from "@harnesskit/wire/trace";
import { createTraceState, isSpanContextValid, type SpanContext } from "@opentelemetry/api";

/** The span that a peer, or a record, names; undefined for one that is malformed. */
export const toSpanContext = (carried: TraceContext | undefined): SpanContext | undefined => {
  const read = readTraceContext(carried);
  if (read === undefined) return undefined;
  const [, traceId = "", spanId = "", flags = "00"] = read.traceparent.split("-");
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(read.tracestate !== undefined && { traceState: createTraceState(read.tracestate) }),
  };
};

/** A span as it travels; undefined for one of no trace, as without an SDK. */
export const toTraceContext = (span: SpanContext | undefined): TraceContext | undefined => {
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  const flags = (span.traceFlags & 1).toString(16).padStart(2, "0");
  const traceparent = `00-${span.traceId}-${span.spanId}-${flags}`;
  const tracestate = span.traceState?.serialize();
  return tracestate ? { traceparent, tracestate } : { traceparent };
};
