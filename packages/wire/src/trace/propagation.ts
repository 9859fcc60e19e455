import { context, trace } from "@opentelemetry/api";
import { readTraceContext, type TraceContext, toSpanContext, toTraceContext } from "./trace-context.ts";

/** The span that is active here, for a message or a record. Undefined where no SDK is registered. */
export const activeTrace = (): TraceContext | undefined =>
  toTraceContext(trace.getSpanContext(context.active()));

/** Runs work as a part of what a peer's `_meta`, `metadata` or headers name; as it is, where these name nothing. */
export const inTrace = <T>(carrier: unknown, work: () => T): T => {
  const remote = toSpanContext(readTraceContext(carrier));
  return remote === undefined ? work() : context.with(trace.setSpanContext(context.active(), remote), work);
};

/** Runs work as a part of what the `_meta` of a request's params names; see {@link withTraceMeta}. */
export const inTraceMeta = <T>(params: unknown, work: () => T): T =>
  typeof params !== "object" || params === null
    ? work()
    : inTrace((params as { readonly _meta?: unknown })._meta, work);

/**
 * The params of a request, with the active span as `_meta.traceparent` and `_meta.tracestate`, as MCP has them. The params
 * themselves where nothing is active.
 */
export const withTraceMeta = <T extends object>(params: T): T => {
  const active = activeTrace();
  if (active === undefined) return params;
  const { _meta: meta } = params as { readonly _meta?: object };
  return { ...params, _meta: { ...meta, ...active } };
};
