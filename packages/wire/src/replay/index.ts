export {
  type CacheBreakpoint,
  cacheBreakpoint,
  cachedSystem,
  cachedTools,
  withBreakpoints,
} from "./cache-breakpoints.ts";
export { type ContextWindows, contextWindows } from "./context-windows.ts";
export { outputPage, readOutputTool } from "./read-output.ts";
export { createReplay, type Replay, type ReplayOptions, type ReplayRequest } from "./replay.ts";
export type { ReplayMessage, ReplayModel } from "./replayed-message.ts";
export { refersToOutputs } from "./shorten-outputs.ts";
export {
  plainSummary,
  type SummaryCounts,
  type SummaryRequest,
  summaryCounts,
  summaryMessage,
  summaryRequest,
  summarySize,
  summaryText,
} from "./summary-text.ts";
export { firstCharacters, headAndTail, lastCharacters, wellFormed, wellFormedJson } from "./well-formed.ts";
