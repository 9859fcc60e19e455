import { activeSession } from "@harnesskit/wire/trace";
import { context, isSpanContextValid, trace } from "@opentelemetry/api";

/** What ties a line of a log to a trace. */
export interface LogFields {
  readonly trace_id?: string;
  readonly span_id?: string;
  readonly "openarmature.session_id"?: string;
}

/**
 * The fields of the operation that is active here, for the lines of your logger: `trace_id` and `span_id`, and `openarmature.session_id`
 * in an invocation with a session. Empty outside of a trace.
 *
 * @example
 * ```ts no-run
 * import { logFields } from "@harnesskit/otel";
 *
 * console.log(JSON.stringify({ message: "charged", ...logFields() }));
 * ```
 */
export const logFields = (): LogFields => {
  const span = trace.getSpanContext(context.active());
  const session = activeSession();
  return {
    ...(span && isSpanContextValid(span) && { trace_id: span.traceId, span_id: span.spanId }),
    ...(session !== undefined && { "openarmature.session_id": session }),
  };
};
