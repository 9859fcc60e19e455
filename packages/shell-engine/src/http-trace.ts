import { type Extensions, HARNESSKIT_EXTENSION } from "@harnesskit/protocol/openharness";
import { defined } from "@harnesskit/wire/json";
import { isTraceparent, readTraceContext, type TraceContext } from "@harnesskit/wire/trace";
import { contextField } from "./shell-context.ts";

/** The headers that go with OpenHarness over HTTP: for the `contextHeaders` of a server. */
export const shellHeaders: readonly string[] = [
  "x-correlation-id",
  "x-request-id",
  "traceparent",
  "tracestate",
  "user-agent",
];

/** What the headers of a request say about where it belongs. */
export interface HttpTrace {
  readonly correlationId: string | undefined;
  readonly requestId: string | undefined;
  readonly traceparent: string | undefined;
}

/** What is safe in a log and as a header. */
const idPattern = /^[\x21-\x7e]{1,512}$/;

const safeId = (value: unknown): string | undefined =>
  typeof value === "string" && idPattern.test(value) ? value : undefined;

const headerOf = (context: unknown, name: string): unknown => {
  const headers = contextField(context, "headers") ?? {};
  return Object.hasOwn(headers, name) ? (headers as Record<string, unknown>)[name] : undefined;
};

const correlationIdOf = (context: unknown) => safeId(headerOf(context, "x-correlation-id"));
const requestIdOf = (context: unknown) => safeId(headerOf(context, "x-request-id"));

/** Reads `headers` of a transport's context. A header that is not well-formed is ignored. */
export const traceOf = (context: unknown): HttpTrace => {
  const traceparent = headerOf(context, "traceparent");
  return {
    correlationId: correlationIdOf(context),
    requestId: requestIdOf(context),
    traceparent: isTraceparent(traceparent) ? traceparent : undefined,
  };
};

/**
 * Where a message belongs in a trace: by the headers of its transport's context, or by `request.context.extensions["dev.harnesskit"]`
 * on a channel, which has no headers. Undefined where neither says so, or not well-formed. The message is not checked yet.
 */
export const traceOfMessage = (message: unknown, context: unknown): TraceContext | undefined => {
  const carried = readTraceContext({
    traceparent: headerOf(context, "traceparent"),
    tracestate: headerOf(context, "tracestate"),
  });
  if (carried !== undefined) return carried;
  const { request } = (message ?? {}) as { request?: { context?: { extensions?: Extensions } } };
  return readTraceContext(request?.context?.extensions?.[HARNESSKIT_EXTENSION]);
};

/**
 * `X-Correlation-ID` and `X-Request-ID` of a transport's context, for the answer, so that a shell's network log and its proxies
 * tell answers apart without reading them. Undefined where neither came, or neither is well-formed.
 */
export const shellReplyHeaders = (context: unknown): Readonly<Record<string, string>> | undefined => {
  const correlationId = correlationIdOf(context);
  const requestId = requestIdOf(context);
  if (correlationId === undefined && requestId === undefined) return undefined;
  return defined({ "x-correlation-id": correlationId, "x-request-id": requestId });
};
