import { randomUUID } from "node:crypto";
import { type AuditSink, createRedactor, type Redactor } from "@harnesskit/audit";
import { callSafely, HarnessError, InvalidArgumentError, warnPlatform } from "@harnesskit/wire";
import { type Clock, systemClock } from "@harnesskit/wire/time";
import { type CoreLimits, type CoreTimes, coreLimits, resolveTimes } from "./core-limits.ts";
import type { CoreOptions } from "./core-options.ts";
import { IssuedDirectives } from "./directives.ts";
import { IdempotencyKeys } from "./idempotency-keys.ts";
import { GrantAuthorizer } from "./permissions/authorize-by-grants.ts";

/** What a core calls of its sink; a sink may lack `begin`. */
const sinkMethods = ["record", "addSecret", "removeSecret"] as const;

/** What the parts of one core share. */
export class CoreContext {
  readonly options: CoreOptions;
  readonly clock: Clock;
  readonly limits: CoreLimits;
  readonly times: CoreTimes;
  readonly audit: AuditSink | undefined;
  readonly redactor: Redactor;
  readonly keys: IdempotencyKeys;
  readonly permissions: GrantAuthorizer;
  readonly directives: IssuedDirectives;
  readonly instanceId = randomUUID();

  /** Throws `invalid_argument` for options that cannot be used. */
  constructor(options: CoreOptions) {
    const {
      agents = [],
      authorize,
      grants,
      audit,
      clock = systemClock,
      redactor = createRedactor(),
    } = options;
    if (!Array.isArray(agents) || !agents.every((directory) => typeof directory === "string")) {
      throw new InvalidArgumentError("startCore: agents must be an array of directories");
    }
    if (authorize && grants) throw new InvalidArgumentError("authorize replaces grants: give one of them");
    const missing = audit && sinkMethods.filter((name) => typeof audit[name] !== "function");
    if (missing?.length) {
      throw new InvalidArgumentError(
        `options.audit has no ${missing.join(", no ")}: it must be an AuditSink of @harnesskit/audit`,
      );
    }
    const times = resolveTimes(options);
    this.options = options;
    this.clock = clock;
    this.redactor = redactor;
    this.limits = coreLimits.resolve(options.limits);
    this.times = { ...times, timeoutMs: Math.min(times.timeoutMs, this.limits.maxTimeoutMs) };
    this.audit = audit;
    this.permissions = new GrantAuthorizer(grants, clock, options.operatorCommand);
    this.directives = new IssuedDirectives(audit, clock);
    this.keys = new IdempotencyKeys(clock, times.idempotencyTtlMs, this.limits.maxIdempotencyBytes);
  }

  /** Gives `onError` what no call says; without it, a warning of the process. */
  report(error: HarnessError, agentId: string): void {
    const { onError = warn } = this.options;
    callSafely(() => onError(error, { agentId }));
  }

  /** Calls a handler of the caller's. What it throws is reported. */
  notify(agentId: string, call: () => unknown): void {
    callSafely(call, (cause) =>
      this.report(new HarnessError("handler_failed", "a handler failed", { cause }), agentId),
    );
  }
}

const warn = (error: HarnessError, { agentId }: { readonly agentId: string }): void =>
  warnPlatform("CoreWarning", { kind: error.code, message: `${agentId}: ${error.message}`, cause: error });
