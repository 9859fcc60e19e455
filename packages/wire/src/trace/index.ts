export { modelSpan, recordAnswer } from "./model-span.ts";
export { activeTrace, inTrace, inTraceMeta, withTraceMeta } from "./propagation.ts";
export {
  agentSpan,
  answerSpan,
  approvalSpan,
  decided,
  decisionSpan,
  recordOutcome,
  recordSuspension,
  remoteCallSpan,
  toolSpan,
} from "./shared-spans.ts";
export {
  activeSession,
  inSpan,
  type Span,
  type SpanStart,
  setSpanExtras,
  startSpan,
  traced,
} from "./span.ts";
export { SpanKind } from "./span-kind.ts";
export { isTraceparent, readTraceContext, type TraceContext } from "./trace-context.ts";
