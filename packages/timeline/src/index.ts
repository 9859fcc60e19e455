export { type TimelineLimits, timelineLimits } from "./limits.ts";
export { createMemoryTimelineStore, type TimelineStoreOptions } from "./memory-timeline-store.ts";
export { approvalWord, decisionWord, decisionWords, rowName, rowSubject } from "./row-name.ts";
export {
  changeRow,
  isOpenRow,
  lostRow,
  rowMatches,
  rowWords,
  searchable,
  titleOf,
  unjudged,
} from "./row-rules.ts";
export { RowTally } from "./row-tally.ts";
export type {
  NewRow,
  PageRequest,
  RowSelector,
  RuleTally,
  SessionsRequest,
  SessionTally,
  StoredContent,
  StoredRow,
  TimelineChange,
  TimelineStore,
} from "./timeline-store.ts";
