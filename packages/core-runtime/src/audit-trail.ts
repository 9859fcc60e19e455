import type { AuditEntryInput, AuditSink } from "@harnesskit/audit";
import type { CoreContext } from "./core-context.ts";

const windowMs = 60_000;

/** How many audit entries one agent can still cause in this minute. */
export class AuditBudget {
  readonly #context: Pick<CoreContext, "clock" | "limits">;
  #windowStartedAt = Number.NEGATIVE_INFINITY;
  #used = 0;
  /** Entries left out since the last one that was written. */
  suppressed = 0;

  constructor(context: Pick<CoreContext, "clock" | "limits">) {
    this.#context = context;
  }

  take(): boolean {
    const { clock, limits } = this.#context;
    const now = clock.elapsedMs();
    if (now - this.#windowStartedAt >= windowMs) {
      this.#windowStartedAt = now;
      this.#used = 0;
    }
    if (this.#used >= limits.maxAuditEventsPerMinute) {
      this.suppressed++;
      return false;
    }
    this.#used++;
    return true;
  }
}

/** Records what the core does; without a sink, nothing. */
export class AuditTrail {
  readonly sink: AuditSink | undefined;

  constructor(sink: AuditSink | undefined) {
    this.sink = sink;
  }

  record(entry: AuditEntryInput): void {
    this.sink?.record(entry);
  }

  /** True while entries cannot be kept: no call is sent then, since none goes unrecorded. */
  get isFull(): boolean {
    return this.sink?.isFull === true;
  }

  /** For what an agent can cause as often as it likes. The entry after a gap says how many were left out. */
  recordWithin(budget: AuditBudget, entry: AuditEntryInput): void {
    if (!this.sink || !budget.take()) return;
    const { suppressed } = budget;
    budget.suppressed = 0;
    this.sink.record(suppressed > 0 ? { ...entry, details: { ...entry.details, suppressed } } : entry);
  }
}
