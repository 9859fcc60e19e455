export type { AnyEvent } from "./desk/read-event.ts";
export { createHub } from "./hub.ts";
export type { Hub, HubOptions } from "./hub-options.ts";
export type { HubLimits } from "./limits.ts";
export { type TimelineLimits, timelineLimits } from "./timeline/limits.ts";
export { createMemoryTimelineStore, type TimelineStoreOptions } from "./timeline/memory-timeline-store.ts";
export { changeRow, isOpenRow, lostRow, rowWords, searchable, titleOf } from "./timeline/row-rules.ts";
export { RowTally } from "./timeline/row-tally.ts";
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
} from "./timeline/timeline-store.ts";
