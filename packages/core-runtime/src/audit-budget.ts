import type { AuditEntryInput } from "@harnesskit/audit";
import type { CoreContext } from "./core-context.ts";

const windowMs = 60_000;

/** Records what an agent can cause as often as it likes: so many entries in a minute. */
export class AuditBudget {
  readonly #context: CoreContext;
  #windowStartedAt = Number.NEGATIVE_INFINITY;
  #used = 0;
  /** Entries left out since the last one that was written. */
  suppressed = 0;

  constructor(context: CoreContext) {
    this.#context = context;
  }

  take(): boolean {
    const { clock, limits } = this.#context;
    const now = clock.elapsedMs();
    if (now - this.#windowStartedAt >= windowMs) {
      this.#windowStartedAt = now;
      this.#used = 0;
    }
    if (++this.#used <= limits.maxAuditEventsPerMinute) return true;
    this.suppressed++;
    return false;
  }

  /** The entry after a gap says how many were left out. */
  record(entry: AuditEntryInput): void {
    if (!this.take()) return;
    const { suppressed } = this;
    this.suppressed = 0;
    this.#context.audit?.record(
      suppressed > 0 ? { ...entry, details: { ...entry.details, suppressed } } : entry,
    );
  }
}
