import type { Redactor } from "@harnesskit/audit";
import type { Clock } from "@harnesskit/wire";
import type { AuditTrail } from "./audit-trail.ts";
import type { Authorize } from "./authorize.ts";
import type { CoreLimits } from "./core-limits.ts";
import type { CoreStats } from "./core-stats.ts";
import type { Deadlines } from "./deadlines.ts";
import type { IdempotencyKeys } from "./idempotency-keys.ts";
import type { ToolValidators } from "./tool-validators.ts";
import type { UuidCounter } from "./uuid-counter.ts";

/** Times, in milliseconds. */
export interface CoreTimes {
  readonly heartbeatIntervalMs: number;
  readonly missedHeartbeats: number;
  readonly helloTimeoutMs: number;
  readonly tokenLifetimeMs: number;
  readonly timeoutMs: number;
  readonly cancelGraceMs: number;
}

/** What the parts of one core share. */
export interface CoreContext {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly limits: CoreLimits;
  readonly times: CoreTimes;
  readonly stats: CoreStats;
  readonly audit: AuditTrail;
  readonly validators: ToolValidators;
  readonly keys: IdempotencyKeys;
  readonly redactor: Redactor;
  readonly authorize: Authorize | undefined;
  /** The call ids of all sessions that are open. */
  readonly callIds: Set<UuidCounter>;
  readonly server: { readonly core_version: string; readonly instance_id: string };
  readonly refuseManifestDrift: boolean;
}
