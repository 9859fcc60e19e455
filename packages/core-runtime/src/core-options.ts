import { randomUUID } from "node:crypto";
import { type AuditSink, createRedactor, type Redactor } from "@harnesskit/audit";
import { type Clock, systemClock } from "@harnesskit/wire";
import { AuditTrail } from "./audit-trail.ts";
import type { Authorize } from "./authorize.ts";
import type { CoreContext } from "./core-context.ts";
import { type CoreLimits, checkWholeNumber, resolveLimits } from "./core-limits.ts";
import { createStats } from "./core-stats.ts";
import { Deadlines } from "./deadlines.ts";
import { IdempotencyKeys } from "./idempotency-keys.ts";
import { ToolValidators } from "./tool-validators.ts";

export const defaultHeartbeatIntervalMs = 5000;

/** Options of a core. */
export interface CoreOptions {
  /** Decides about each call before it is sent. @default every call of a tool without `requires_directive` is allowed */
  readonly authorize?: Authorize;
  /** Where everything that happens is recorded, never content, never a token. @default nowhere */
  readonly audit?: AuditSink;
  /**
   * Takes what looks like a secret out of streamed output and of agents' error messages (section 7). Session tokens are
   * added to it. @default a new one
   */
  readonly redactor?: Redactor;
  /** @default see {@link CoreLimits} */
  readonly limits?: Partial<CoreLimits>;
  /** How often agents have to send a heartbeat. @default 5000 */
  readonly heartbeatIntervalMs?: number;
  /** Intervals without a heartbeat after which an agent is unhealthy. @default 3 */
  readonly missedHeartbeats?: number;
  /** How long a connection may take to say hello. @default 5000 */
  readonly helloTimeoutMs?: number;
  /** How long a session token is good. @default 60000 */
  readonly tokenLifetimeMs?: number;
  /** How long a call may take that does not say. @default 120000 */
  readonly timeoutMs?: number;
  /** How long an agent may take to answer a cancellation. @default 5000 */
  readonly cancelGraceMs?: number;
  /** How long the result of a call with an idempotency key is remembered. @default 600000 (ten minutes) */
  readonly idempotencyTtlMs?: number;
  /** Whether an agent whose `manifest_hash` differs from the launch's is kept out. @default false: it is reported */
  readonly refuseManifestDrift?: boolean;
  /** What agents are told as the core's version. @default "0.0.0" */
  readonly coreVersion?: string;
  /** What agents are told as this core's id. @default a random UUID */
  readonly instanceId?: string;
  /** @default the real time */
  readonly clock?: Clock;
}

/** Checks the options and makes what the parts of the core share. Throws `invalid_argument`. */
export const createContext = (options: CoreOptions): CoreContext => {
  const clock = options.clock ?? systemClock;
  const limits = resolveLimits(options.limits);
  const stats = createStats();
  const time = (name: keyof CoreOptions, ownDefault: number, min = 1) =>
    checkWholeNumber(name, (options[name] as number | undefined) ?? ownDefault, min);
  const ttlMs = time("idempotencyTtlMs", 600_000);
  return {
    clock,
    limits,
    stats,
    deadlines: new Deadlines(clock),
    times: {
      heartbeatIntervalMs: time("heartbeatIntervalMs", defaultHeartbeatIntervalMs),
      missedHeartbeats: time("missedHeartbeats", 3),
      helloTimeoutMs: time("helloTimeoutMs", 5000),
      tokenLifetimeMs: time("tokenLifetimeMs", 60_000),
      timeoutMs: Math.min(time("timeoutMs", 120_000), limits.maxTimeoutMs),
      cancelGraceMs: time("cancelGraceMs", 5000, 0),
    },
    audit: new AuditTrail(options.audit, stats),
    validators: new ToolValidators(limits),
    keys: new IdempotencyKeys({
      clock,
      ttlMs,
      maxKeys: limits.maxIdempotencyKeys,
      maxBytes: limits.maxIdempotencyBytes,
    }),
    redactor: options.redactor ?? createRedactor(),
    authorize: options.authorize,
    callIds: new Set(),
    server: {
      core_version: options.coreVersion ?? "0.0.0",
      instance_id: options.instanceId ?? randomUUID(),
    },
    refuseManifestDrift: options.refuseManifestDrift ?? false,
  };
};
