export { shellHeaders } from "./http-trace.ts";
export type { ShellEngineLimits } from "./limits.ts";
export type { ShellHandlers } from "./routes.ts";
export type { MaybePromise, ResumedRun, ShellCall, ShellHandler, ShellReply, Sop } from "./shell-call.ts";
export { createShellEngine, type ShellEngine } from "./shell-engine.ts";
export { ShellEngineError } from "./shell-engine-error.ts";
export type { ShellEngineOptions } from "./shell-engine-options.ts";
export type { ShellLogLine } from "./shell-log.ts";
export type { ShellStream } from "./streaming/shell-stream.ts";
