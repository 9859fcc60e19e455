export { type TimelineLimits, timelineLimits } from "./limits.ts";
export { createMemoryTimelineStore, type TimelineStoreOptions } from "./memory-timeline-store.ts";
export { approvalWord, decisionWord, decisionWords, rowName, rowSubject } from "./row-name.ts";
export { rowMatches, sessionMatches, unjudged } from "./row-rules.ts";
export { type ChangedRow, type KeptRow, TimelineBatch } from "./timeline-batch.ts";
export type {
  NewRow,
  SessionTally,
  StoredContent,
  StoredRow,
  TimelineChange,
  TimelineStore,
} from "./timeline-store.ts";
