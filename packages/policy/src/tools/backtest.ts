import type { AuditEntry } from "@harnesskit/audit";
import { type AhpEvent, AhpEventSchema } from "@harnesskit/protocol/ahp";
import { decide } from "../decide/decide.ts";
import type { Explanation } from "../decide/explanation.ts";
import { LimitStore } from "../limits/limit-store.ts";
import { compiledOf, type Policy } from "../policy.ts";

/** An event that was decided otherwise than the policy would. */
export interface BacktestChange {
  /** The number of the audit's entry. */
  readonly seq: number;
  readonly time: string;
  readonly event: AhpEvent;
  /** The word of the decision that was made then. */
  readonly was: string;
  /** The word of the policy's decision; undefined where it has no say. */
  readonly now: string | undefined;
  readonly explanation: Explanation;
}

/** The result of `backtest`. */
export interface BacktestReport {
  /** Entries of events that were decided. */
  readonly decided: number;
  /** Of these, entries without the event itself: content was not recorded, or was cut. */
  readonly withoutEvent: number;
  /** Of these, events of which long texts were cut, so that the policy may have decided otherwise on the whole. */
  readonly cut: number;
  /** Of these, events that the policy decides as they were decided. */
  readonly same: number;
  /** How often it would come to `was → now`, the same included. */
  readonly transitions: Readonly<Record<string, number>>;
  /** The first of the changes, and how many there are. */
  readonly changes: readonly BacktestChange[];
  readonly changed: number;
}

export interface BacktestOptions {
  /**
   * Returns the event of an entry; undefined where it has no event.
   * @default the JSON in `details.event`, as `createPolicyAudit` records it
   */
  readonly eventOf?: ((entry: AuditEntry) => unknown) | undefined;
  /** Changes that are listed. @default 1000 */
  readonly maxChanges?: number | undefined;
}

const recordedIn = ({ details }: AuditEntry): unknown => {
  if (typeof details?.event !== "string") return undefined;
  try {
    return JSON.parse(details.event);
  } catch {
    return undefined;
  }
};

/**
 * What a policy would have decided otherwise: takes entries of an audit in order, looks at those of decided events
 * (`ahp.event` with a decision), and lets its limits count at the entries' times. Whatever else the audit holds is passed
 * over. A policy in shadow is asked for what it would decide. Never throws but what `entries` and `eventOf` throw.
 */
export const backtest = async (
  policy: Policy,
  entries: Iterable<AuditEntry> | AsyncIterable<AuditEntry>,
  options: BacktestOptions = {},
): Promise<BacktestReport> => {
  const { eventOf = recordedIn, maxChanges = 1000 } = options;
  const store = new LimitStore(compiledOf(policy).bounds.maxLimitKeys);
  const transitions = new Map<string, number>();
  const changes: BacktestChange[] = [];
  const counts = { decided: 0, withoutEvent: 0, cut: 0, same: 0, changed: 0 };
  for await (const entry of entries) {
    if (entry.action !== "ahp.event") continue;
    const was = entry.details?.decision;
    const event = AhpEventSchema.safeParse(eventOf(entry));
    // An event without a decision may end an action that a limit counts.
    if (event.success && typeof was !== "string") {
      decide(policy, event.data, { store, nowMs: Date.parse(entry.time) });
    }
    if (typeof was !== "string") continue;
    counts.decided++;
    if (!event.success) {
      counts.withoutEvent++;
      continue;
    }
    if (entry.details?.event_cut === true) counts.cut++;
    const explanation = decide(policy, event.data, { store, nowMs: Date.parse(entry.time) });
    const now = explanation.decided?.decision;
    const transition = `${was} → ${now ?? "none"}`;
    transitions.set(transition, (transitions.get(transition) ?? 0) + 1);
    if (now === was) {
      counts.same++;
      continue;
    }
    counts.changed++;
    if (changes.length < maxChanges) {
      changes.push({ seq: entry.seq, time: entry.time, event: event.data, was, now, explanation });
    }
  }
  return { ...counts, transitions: Object.fromEntries(transitions), changes };
};
