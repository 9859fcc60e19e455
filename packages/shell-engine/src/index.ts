export type { Denial, OfferedCapabilities } from "./capability-offer.ts";
export type { ContinuationClaim, ContinuationStore } from "./continuation-store.ts";
export { shellHeaders, withShellHeaders } from "./http-trace.ts";
export { type ShellEngineLimits, shellEngineLimits } from "./limits.ts";
export type { ShellHandlers } from "./routes.ts";
export type {
  ContinueWith,
  Conversation,
  MaybePromise,
  ResumedRun,
  ShellCall,
  ShellHandler,
  ShellReply,
  Sop,
} from "./shell-call.ts";
export { createShellEngine } from "./shell-engine.ts";
export type { ShellEngine, ShellEngineStats } from "./shell-engine-api.ts";
export { ShellEngineError, type ShellEngineErrorOptions } from "./shell-engine-error.ts";
export type { ShellAuthenticate, ShellAuthentication, ShellEngineOptions } from "./shell-engine-options.ts";
export type { ShellLogLine, WriteLog } from "./shell-log.ts";
export type { DirectiveProgress, ShellStream } from "./streaming/handler-stream.ts";
