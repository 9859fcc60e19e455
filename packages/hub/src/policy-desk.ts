import type { AuditEntry } from "@harnesskit/audit";
import { backtest, type Policy, type PolicyHarness, parsePolicyLike } from "@harnesskit/policy";
import type {
  BacktestResult,
  PolicyState,
  RowContent,
  RuleHits,
  TimelineRow,
} from "@harnesskit/protocol/hub";
import type { Clock } from "@harnesskit/wire";
import type { StoredRow, TimelineStore } from "./timeline/timeline-store.ts";

export interface PolicyDeskOptions {
  readonly policy: PolicyHarness;
  readonly timeline: TimelineStore;
  readonly clock: Clock;
  readonly maxEvents: number;
}

export interface BacktestRequest {
  readonly text?: string | undefined;
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  readonly maxChanges?: number | undefined;
}

/** What a backtest has read. */
interface Seen {
  readonly rows: Map<number, TimelineRow>;
  /** That of the entry in question. */
  event: RowContent | undefined;
  isPartial: boolean;
}

const pageSize = 200;

/** What the policy of an event's time decided, before any human. */
const firstDecisionOf = ({ row }: StoredRow): string | undefined =>
  row.approval === undefined ? row.decision?.decision : "escalate";

/** The policy in force, its hits, and what others would have decided. */
export class PolicyDesk {
  readonly #options: PolicyDeskOptions;
  #policy: Policy;
  #loadedAtMs: number;

  constructor(options: PolicyDeskOptions) {
    this.#options = options;
    this.#policy = options.policy.policy;
    this.#loadedAtMs = options.clock.now();
  }

  /** Notices a policy that came into force. */
  checkReload(): void {
    const { policy } = this.#options.policy;
    if (policy === this.#policy) return;
    this.#policy = policy;
    this.#loadedAtMs = this.#options.clock.now();
  }

  async state(): Promise<PolicyState> {
    this.checkReload();
    const { name, file, mode, text, warnings, rules, limits } = this.#policy;
    const hits = new Map<string, RuleHits>();
    const put = (kind: string, rule: string, hit: Partial<RuleHits>): void => {
      const key = JSON.stringify([kind, rule]);
      const empty = { name: rule, kind: kind as RuleHits["kind"], hits: 0, decisions: {}, isInForce: false };
      hits.set(key, { ...(hits.get(key) ?? empty), ...hit });
    };
    for (const rule of rules) put("rule", rule, { isInForce: true });
    for (const limit of limits) put("limit", limit, { isInForce: true });
    put("default", "default", { isInForce: true });
    for (const { kind, name: rule, decision, ...counted } of await this.#options.timeline.rules()) {
      const before = hits.get(JSON.stringify([kind, rule]));
      put(kind, rule, {
        hits: (before?.hits ?? 0) + counted.hits,
        lastHitAtMs: Math.max(before?.lastHitAtMs ?? 0, counted.lastHitAtMs),
        decisions: { ...before?.decisions, [decision]: (before?.decisions[decision] ?? 0) + counted.hits },
      });
    }
    return {
      name,
      file,
      mode,
      text,
      loadedAtMs: this.#loadedAtMs,
      warnings: warnings.map(({ message, line, column }) => ({ message, line, column })),
      rules: [...hits.values()],
    };
  }

  /** Throws `PolicyError` for a policy that cannot be used. */
  async backtest(
    { text, sinceMs, untilMs, maxChanges = 100 }: BacktestRequest,
    signal: AbortSignal,
  ): Promise<BacktestResult> {
    const { policy } = this.#options.policy;
    const tried = text === undefined ? policy : parsePolicyLike(policy, text);
    const seen: Seen = { rows: new Map(), event: undefined, isPartial: false };
    const report = await backtest(tried, this.#entries({ sinceMs, untilMs }, seen, signal), {
      eventOf: () => seen.event?.value,
      maxChanges,
    });
    return {
      ...report,
      transitions: { ...report.transitions },
      changes: report.changes.map(({ seq, was, now, explanation, time }) => {
        const row = seen.rows.get(seq);
        return {
          rowId: seq,
          atMs: Date.parse(time),
          agent: row?.agent ?? "unknown",
          tool: row?.tool,
          summary: row?.summary ?? "",
          was,
          now,
          rule: explanation.rule,
          why: explanation.why,
        };
      }),
      isPartial: seen.isPartial,
    };
  }

  /** The rows as entries of an audit. */
  async *#entries(
    { sinceMs, untilMs }: Pick<BacktestRequest, "sinceMs" | "untilMs">,
    seen: Seen,
    signal: AbortSignal,
  ): AsyncGenerator<AuditEntry> {
    const { timeline, clock, maxEvents } = this.#options;
    let afterId = 0;
    for (;;) {
      const page = await timeline.read({ sinceMs, untilMs, afterId, limit: pageSize });
      for (const stored of page) {
        afterId = stored.row.id;
        if (seen.rows.size >= maxEvents || signal.aborted) {
          seen.isPartial = true;
          return;
        }
        const decision = firstDecisionOf(stored);
        if (decision === undefined && stored.row.type !== "post_action") continue;
        seen.rows.set(stored.row.id, stored.row);
        seen.event = stored.content.event;
        yield {
          seq: stored.row.id,
          time: new Date(stored.row.atMs).toISOString(),
          action: "ahp.event",
          details: decision === undefined ? undefined : { decision, event_cut: seen.event?.isCut === true },
        };
      }
      if (page.length < pageSize) return;
      // Decisions go before.
      await new Promise<void>((resolve) => clock.after(0, resolve, true));
    }
  }
}
