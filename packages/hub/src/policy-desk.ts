import type { AuditEntry } from "@harnesskit/audit";
import {
  backtest,
  checkPolicy,
  describePolicy,
  type Policy,
  PolicyError,
  type PolicyHarness,
  parsePolicyLike,
} from "@harnesskit/policy";
import { AhpEventSchema } from "@harnesskit/protocol/ahp";
import type {
  BacktestResult,
  HubMethodParams,
  PolicyCheck,
  PolicyState,
  RowContent,
  RuleHits,
  TimelineRow,
} from "@harnesskit/protocol/hub";
import type { StoredRow, TimelineStore } from "@harnesskit/timeline";
import type { Clock } from "@harnesskit/wire";
import type { HubOptions } from "./hub-options.ts";

export interface PolicyDeskOptions {
  readonly policy: PolicyHarness;
  readonly timeline: TimelineStore;
  readonly clock: Clock;
  readonly maxEvents: number;
  readonly save: HubOptions["savePolicy"];
}

type BacktestRequest = Omit<NonNullable<HubMethodParams<"policy.backtest">>, "watchId">;

/** How far a backtest has come: events read, and the part of its rows. */
type OnProgress = (progress: { readonly events: number; readonly share: number }) => void;

/** What a backtest has read. */
interface Seen {
  readonly rows: Map<number, TimelineRow>;
  /** That of the entry in question. */
  event: RowContent | undefined;
  isPartial: boolean;
}

const pageSize = 200;
const progressMs = 100;

/** What the policy of an event's time decided, before any human. */
const firstDecisionOf = ({ row }: StoredRow): string | undefined =>
  row.approval === undefined ? row.decision?.decision : "escalate";

const toProblem = ({ message, line, column }: { message: string; line: number; column: number }) => ({
  ...{ message, line, column },
});

/** Undefined for an event that was not kept. */
const judge = (policy: Policy, content: RowContent | undefined): PolicyCheck["judged"] => {
  const event = AhpEventSchema.safeParse(content?.value);
  if (!event.success) return undefined;
  const { decided, rule, source, why, shadowed } = checkPolicy(policy, event.data);
  return {
    ...{ decision: decided?.decision, rule, source, why, isCut: content?.isCut === true },
    shadowed: shadowed.map(({ rule: shadow, decision }) => ({ rule: shadow, decision })),
  };
};

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

  get file(): string {
    return this.#options.policy.policy.file;
  }

  get canSave(): boolean {
    return this.#options.save !== undefined;
  }

  /** Rejects as `HubOptions.savePolicy` does. */
  async save(change: HubMethodParams<"policy.save">): Promise<void> {
    await this.#options.save?.(change);
    this.checkReload();
  }

  /** Checks a policy's text, and decides an event by it. */
  check(text: string, event?: RowContent): PolicyCheck {
    try {
      const policy = parsePolicyLike(this.#options.policy.policy, text);
      const rules = describePolicy(policy).map((rule) => ({ ...rule, cel: [...rule.cel] }));
      return { problems: [], warnings: policy.warnings.map(toProblem), rules, judged: judge(policy, event) };
    } catch (error) {
      if (!PolicyError.isInstance(error)) throw error;
      return { problems: error.problems.map(toProblem), warnings: [], rules: [] };
    }
  }

  async state(): Promise<PolicyState> {
    this.checkReload();
    const { name, file, mode, text, warnings } = this.#policy;
    const hits = new Map<string, RuleHits>();
    const put = (kind: string, rule: string, hit: Partial<RuleHits>): void => {
      const key = JSON.stringify([kind, rule]);
      const empty = { name: rule, kind: kind as RuleHits["kind"], hits: 0, decisions: {} };
      hits.set(key, { ...(hits.get(key) ?? empty), ...hit });
    };
    for (const said of describePolicy(this.#policy))
      put(said.kind, said.name, { text: { ...said, cel: [...said.cel] } });
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
      warnings: warnings.map(toProblem),
      rules: [...hits.values()],
      canSave: this.canSave,
    };
  }

  /** Throws `PolicyError` for a policy that cannot be used. */
  async backtest(
    { text, sinceMs, untilMs, maxChanges = 100 }: BacktestRequest,
    signal: AbortSignal,
    onProgress: OnProgress,
  ): Promise<BacktestResult> {
    const { policy } = this.#options.policy;
    const tried = text === undefined ? policy : parsePolicyLike(policy, text);
    const seen: Seen = { rows: new Map(), event: undefined, isPartial: false };
    const report = await backtest(tried, this.#entries({ sinceMs, untilMs }, seen, signal, onProgress), {
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
    onProgress: OnProgress,
  ): AsyncGenerator<AuditEntry> {
    const { timeline, clock, maxEvents } = this.#options;
    const lastId = (await timeline.page({ limit: 1 })).rows[0]?.id ?? 0;
    let firstId: number | undefined;
    let toldMs = clock.now();
    let afterId = 0;
    for (;;) {
      const page = await timeline.read({ sinceMs, untilMs, afterId, limit: pageSize });
      firstId ??= page[0]?.row.id ?? lastId;
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
      if (clock.now() - toldMs >= progressMs) {
        toldMs = clock.now();
        const share = (afterId - firstId) / Math.max(1, lastId - firstId);
        onProgress({ events: seen.rows.size, share: Math.min(1, share) });
      }
      // Decisions go before.
      await new Promise<void>((resolve) => clock.after(0, resolve, true));
    }
  }
}
