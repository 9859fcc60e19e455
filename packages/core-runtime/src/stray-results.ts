import type { CoreStats } from "./core-stats.ts";
import type { UuidCounter } from "./uuid-counter.ts";

const maxRemembered = 1024;

/** What a result is that no call waits for. */
export type StrayKind = "late" | "duplicate" | "foreign" | "unknown";

/**
 * Tells results apart that no call waits for. The ids of a session's calls are counted, so that only those of calls that
 * ended without a result have to be remembered.
 */
export class StrayResults {
  readonly #stats: CoreStats;
  readonly #callIds: UuidCounter;
  readonly #allCallIds: ReadonlySet<UuidCounter>;
  readonly #withoutResult = new Set<string>();

  /** @param allCallIds Those of all sessions that are open. */
  constructor(stats: CoreStats, callIds: UuidCounter, allCallIds: ReadonlySet<UuidCounter>) {
    this.#stats = stats;
    this.#callIds = callIds;
    this.#allCallIds = allCallIds;
  }

  /** This call ended without a result. */
  remember(callId: string): void {
    this.#withoutResult.add(callId);
    if (this.#withoutResult.size <= maxRemembered) return;
    for (const oldest of this.#withoutResult) {
      this.#withoutResult.delete(oldest);
      break;
    }
  }

  count(callId: string): StrayKind {
    const kind = this.#kindOf(callId);
    if (kind === "late") this.#stats.lateResults++;
    else if (kind === "duplicate") this.#stats.duplicateResults++;
    else if (kind === "foreign") this.#stats.foreignResults++;
    else this.#stats.unknownResults++;
    return kind;
  }

  #kindOf(callId: string): StrayKind {
    if (this.#withoutResult.delete(callId)) return "late";
    if (this.#callIds.hasIssued(callId)) return "duplicate";
    for (const callIds of this.#allCallIds) if (callIds.hasIssued(callId)) return "foreign";
    return "unknown";
  }
}
