import { defineOptions } from "@harnesskit/wire";
import type { TimelineStoreOptions } from "./memory-timeline-store.ts";

export const checkMemoryTimelineStoreOptions = defineOptions<TimelineStoreOptions>(
  "createMemoryTimelineStore",
  { limits: false, clock: false },
);
