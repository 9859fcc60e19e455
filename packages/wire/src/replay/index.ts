export { type CacheBreakpoint, cacheBreakpoint, withBreakpoints } from "./cache-breakpoints.ts";
export { type ContextWindows, contextWindows } from "./context-windows.ts";
export { createReplay, type Replay, type ReplayOptions, type ReplayRequest } from "./replay.ts";
export type { ReplayMessage, ReplayModel } from "./replayed-message.ts";
export { readOutputName, refersToOutputs } from "./shorten-outputs.ts";
export {
  boundedSummary,
  plainSummary,
  type SummaryCounts,
  type SummaryRequest,
  summaryCounts,
  summaryMessage,
  summaryRequest,
  summarySize,
} from "./summary-text.ts";
export { firstCharacters, lastCharacters, wellFormed, wellFormedJson } from "./well-formed.ts";
