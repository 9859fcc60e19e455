import { randomUUID } from "node:crypto";
import { createRedactor, type Redactor } from "@harnesskit/audit";
import { callSafely, HarnessError, InvalidArgumentError, warnPlatform } from "@harnesskit/wire";
import { type Clock, systemClock } from "@harnesskit/wire/time";
import { AuditTrail } from "./audit-trail.ts";
import { type CoreLimits, type CoreTimes, coreLimits, coreTimes, resolveTimes } from "./core-limits.ts";
import type { Authorize, CoreOptions } from "./core-options.ts";
import { IssuedDirectives } from "./directives.ts";
import { IdempotencyKeys } from "./idempotency-keys.ts";
import { GrantAuthorizer } from "./permissions/authorize-by-grants.ts";

/** What the parts of one core share. */
export interface CoreContext {
  readonly clock: Clock;
  readonly limits: CoreLimits;
  readonly times: CoreTimes;
  readonly audit: AuditTrail;
  readonly keys: IdempotencyKeys;
  readonly redactor: Redactor;
  /** In place of the grants. */
  readonly authorize: Authorize | undefined;
  readonly permissions: GrantAuthorizer;
  readonly directives: IssuedDirectives;
  readonly server: { readonly core_version: string; readonly instance_id: string };
  /** Gives `onError` what no call says; without it, a warning of the process. */
  report(error: HarnessError, agentId: string): void;
  /** Calls a handler of the caller's. What it throws is reported. */
  notify(agentId: string, call: () => unknown): void;
}

/** What a core calls of its sink; a sink may lack `begin`. */
const sinkMethods = ["record", "addSecret", "removeSecret"] as const;

/** Checks the options and makes what the parts of the core share. Throws `invalid_argument`. */
export const createContext = (options: CoreOptions): CoreContext => {
  const { clock = systemClock, redactor = createRedactor(), onError = warn, grants } = options;
  if (options.authorize && grants)
    throw new InvalidArgumentError("authorize replaces grants: give one of them");
  const { audit: sink } = options;
  const missing = sink && sinkMethods.filter((name) => typeof sink[name] !== "function");
  if (missing?.length) {
    throw new InvalidArgumentError(
      `options.audit has no ${missing.join(", no ")}: it must be an AuditSink of @harnesskit/audit`,
    );
  }
  const limits = coreLimits.resolve(options.limits);
  const times = resolveTimes(coreTimes, options);
  const audit = new AuditTrail(options.audit);
  const report: CoreContext["report"] = (error, agentId) => {
    callSafely(
      () => onError(error, { agentId }),
      () => {},
    );
  };
  return {
    clock,
    limits,
    redactor,
    authorize: options.authorize,
    permissions: new GrantAuthorizer(grants, clock, options.operatorCommand),
    times: { ...times, timeoutMs: Math.min(times.timeoutMs, limits.maxTimeoutMs) },
    audit,
    directives: new IssuedDirectives(audit, clock),
    keys: new IdempotencyKeys(clock, times.idempotencyTtlMs, limits.maxIdempotencyBytes),
    server: {
      core_version: options.coreVersion ?? "0.0.0",
      instance_id: randomUUID(),
    },
    report,
    notify: (agentId, call) =>
      callSafely(call, (cause) =>
        report(new HarnessError("handler_failed", "a handler failed", { cause }), agentId),
      ),
  };
};

const warn = (error: HarnessError, { agentId }: { readonly agentId: string }): void =>
  warnPlatform("CoreWarning", { kind: error.code, message: `${agentId}: ${error.message}`, cause: error });
