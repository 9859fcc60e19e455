export type {
  OperationName,
  Operations,
  StartOptions,
  TracedCall,
  TracedDecision,
  TracedOperation,
  TracedShellRequest,
  Tracer,
} from "./operations.ts";
export { isTraceparent, readTraceContext, type TraceContext } from "./trace-context.ts";
export {
  activeTrace,
  currentTracer,
  inOperation,
  inTrace,
  inTraceMeta,
  setTracer,
  traced,
  withTraceMeta,
} from "./tracer.ts";
