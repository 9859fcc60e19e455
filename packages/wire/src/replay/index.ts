export { askForSummary } from "./ask-summary.ts";
export {
  cacheBreakpoint,
  cachedSystem,
  cachedTools,
  withBreakpoints,
} from "./cache-breakpoints.ts";
export { type ContextWindows, contextWindows } from "./context-windows.ts";
export { outputPage, readOutputTool } from "./read-output.ts";
export { createReplay, type Replay } from "./replay.ts";
export type { ReplayMessage } from "./replayed-message.ts";
export { refersToOutputs } from "./shorten-outputs.ts";
export {
  type SummaryCounts,
  summaryCounts,
  summaryMessage,
  summarySize,
} from "./summary-text.ts";
export { firstCharacters, headAndTail, lastCharacters, wellFormed, wellFormedJson } from "./well-formed.ts";
