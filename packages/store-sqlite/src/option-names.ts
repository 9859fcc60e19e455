import { defineOptions } from "@harnesskit/wire";
import type { SqliteApprovalStoreOptions } from "./approval-store.ts";
import type { ContinuationStoreOptions } from "./continuation-store.ts";
import type { SqliteStoreOptions } from "./store-options.ts";
import type { SqliteTimelineStoreOptions } from "./timeline-store.ts";

export const checkApprovalStoreOptions = defineOptions<SqliteApprovalStoreOptions>("openApprovalStore", {
  limits: false,
  clock: false,
  file: true,
  sync: { suspensions: true, all: true, none: true },
  createId: false,
});

export const checkContinuationStoreOptions = defineOptions<ContinuationStoreOptions>(
  "openContinuationStore",
  { limits: false, clock: false, file: true, sync: { suspensions: true, all: true, none: true } },
);

export const checkSqliteStoreOptions = defineOptions<SqliteStoreOptions>("openSqliteStore", {
  file: true,
  sync: { suspensions: true, all: true, none: true },
  limits: false,
  clock: false,
});

export const checkTimelineStoreOptions = defineOptions<SqliteTimelineStoreOptions>("openTimelineStore", {
  limits: false,
  clock: false,
  file: true,
});
