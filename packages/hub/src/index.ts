export type { AgentLink } from "./agents/presence.ts";
export type { HubUser } from "./api/hub-api.ts";
export type { AnyEvent } from "./desk/read-event.ts";
export { createHub } from "./hub.ts";
export type { AgentContext, Hub, HubOptions, HubStats, TransportContext } from "./hub-options.ts";
export { type HubLimits, hubLimits } from "./limits.ts";
export { type TimelineLimits, timelineLimits } from "./timeline/limits.ts";
export { createMemoryTimelineStore, type TimelineStoreOptions } from "./timeline/memory-timeline-store.ts";
export {
  changeRow,
  isFailedRow,
  isOpenRow,
  lostRow,
  rowMatches,
  rowWords,
  searchable,
} from "./timeline/row-rules.ts";
export { RowTally } from "./timeline/row-tally.ts";
export type {
  NewRow,
  PageRequest,
  RowSelector,
  RuleTally,
  SessionTally,
  StoredContent,
  StoredRow,
  TimelineChange,
  TimelineStore,
} from "./timeline/timeline-store.ts";
