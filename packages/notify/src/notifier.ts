import type { ApprovalRecord, ApprovalStore } from "@harnesskit/approvals";
import {
  backoffDelayMs,
  type Clock,
  callSafely,
  defineLimits,
  type LimitsOf,
  resolveBackoff,
  systemClock,
  wait,
} from "@harnesskit/wire";
import type { NotifyConfig, NotifyStep } from "./config.ts";
import { NoticeLane } from "./lane.ts";
import type { NoticeLinks } from "./notice.ts";
import { checkNotifierOptions } from "./option-names.ts";
import { createLoudFrom, hasRisk } from "./quiet-hours.ts";
import { createSentLog, type SentLog } from "./sent-log.ts";

export const notifierLimits = defineLimits({
  /** How long one attempt to deliver may take. */
  timeoutMs: 10_000,
  /** Attempts to deliver one notice; then it is given up and reported. */
  maxAttempts: 8,
  /** The longest wait after a first failure; it doubles up to 5 minutes. */
  initialDelayMs: 2_000,
  /** Between two notices to one target. What comes meanwhile goes out as one notice. */
  spacingMs: { default: 2_000, min: 0 },
});
/** Sends notices about approvals that wait. */
export type NotifierLimits = LimitsOf<typeof notifierLimits>;

export interface NotifierOptions {
  /** See `parseNotifyConfig`. */
  readonly config: NotifyConfig;
  /**
   * Where approvals change: a store of approvals, or a hub's client with `page: (options) => client.call("inbox.list", options)` and
   * `watch: (options) => client.watchInbox(options)`.
   */
  readonly source: Pick<ApprovalStore, "page" | "watch">;
  /** The links that notices contain. */
  readonly links: NoticeLinks;
  /** @default in memory: a restart tells again what still waits */
  readonly sent?: SentLog | undefined;
  /** Limits to override. @default each as `NotifyLimits` states */
  readonly limits?: Partial<NotifierLimits> | undefined;
  /** Reports failed deliveries, as `NotifyError`, and failures of the source. What it throws is ignored. @default no report */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** @default the global one */
  readonly fetch?: typeof fetch | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

export interface Notifier extends AsyncDisposable {
  /** Tells what waits already, and what comes. Call it once. */
  start(): void;
  /** Returns how many notices are being delivered, by target. */
  stats(): Readonly<Record<string, number>>;
  /** Ends deliveries; what was not delivered is sent after the next start. Idempotent. */
  close(): Promise<void>;
}

const minuteMs = 60_000;
const maxRetryMs = 300_000;

const isMeant = ({ when }: NotifyStep, { risk, origin, subject }: ApprovalRecord): boolean =>
  when === undefined ||
  ((when.risk === undefined || hasRisk(when.risk, risk.level)) &&
    (when.agent?.includes(origin.agent) ?? true) &&
    (when.tool?.includes(subject.tool) ?? true));

/**
 * Tells people about approvals that wait: each step of the configuration after its time, held back in quiet hours, and nothing more
 * once the approval is answered, withdrawn or expired. Delivers at least once. Throws `invalid_argument` for limits that are not valid.
 */
export const createNotifier = (options: NotifierOptions): Notifier => {
  checkNotifierOptions(options);
  const { config, source, links, sent = createSentLog(), clock = systemClock } = options;
  const { timeoutMs, maxAttempts, initialDelayMs, spacingMs } = notifierLimits.resolve(options.limits);
  const backoff = resolveBackoff(
    { maxDelayMs: Math.max(initialDelayMs, maxRetryMs) },
    { maxAttempts, initialDelayMs },
  );
  const onError = (error: unknown): void => callSafely(() => options.onError?.(error));
  const loudFrom = createLoudFrom(config.quiet);
  const closing = new AbortController();
  const lanes = new Map(
    Object.entries(config.targets).map(([name, target]) => [
      name,
      new NoticeLane({
        ...{ name, target, links, sent, clock, backoff, timeoutMs, spacingMs, onError },
        fetch: options.fetch ?? fetch,
        closed: closing.signal,
      }),
    ]),
  );
  /** What takes back the timers of an approval that waits, by its id. */
  const timers = new Map<string, Set<() => void>>();

  const schedule = (record: ApprovalRecord, step: NotifyStep, name: string, own: Set<() => void>): void => {
    const key = `${record.id} ${name} ${step.afterMinutes}`;
    if (sent.has(key)) return;
    const arm = (): void => {
      const nowMs = clock.now();
      const askedMs = Math.max(nowMs, record.createdAtMs + step.afterMinutes * minuteMs);
      const dueMs = loudFrom(record.risk.level, askedMs);
      if (dueMs >= record.expiresAtMs) return;
      if (dueMs <= nowMs) {
        lanes.get(name)?.put(key, record);
        return;
      }
      const cancel = clock.after(dueMs - nowMs, () => {
        own.delete(cancel);
        arm();
      });
      own.add(cancel);
    };
    arm();
  };

  const changed = (record: ApprovalRecord): void => {
    // Once the asker has gone, no agent would take the answer.
    if (record.status === "pending" && record.asker !== "left") {
      if (timers.has(record.id)) return;
      const own = new Set<() => void>();
      timers.set(record.id, own);
      for (const step of config.notify) {
        if (isMeant(step, record)) for (const name of step.to) schedule(record, step, name, own);
      }
      return;
    }
    for (const cancel of timers.get(record.id) ?? []) cancel();
    if (timers.delete(record.id)) for (const lane of lanes.values()) lane.drop(record.id);
  };

  /**
   * Takes up what waits already; returns the number to watch from. One page only: a later one would lead past answers to what the first
   * lists. The watch gives what does not fit in it.
   */
  const readPending = async (): Promise<number> => {
    const { records, nextSeq } = await source.page({ status: "pending" });
    for (const record of records) changed(record);
    return nextSeq;
  };

  const follow = async (): Promise<void> => {
    let afterSeq: number | undefined;
    for (let failures = 1; !closing.signal.aborted; failures++) {
      try {
        afterSeq ??= await readPending();
        for await (const record of source.watch({ afterSeq, signal: closing.signal })) {
          changed(record);
          afterSeq = record.seq;
          failures = 0;
        }
        return;
      } catch (error) {
        if (!closing.signal.aborted) onError(error);
      }
      await wait(backoffDelayMs(Math.max(1, failures), backoff), clock, closing.signal);
    }
  };

  let following: Promise<void> | undefined;
  return {
    start() {
      following ??= follow();
    },
    stats: () => Object.fromEntries([...lanes].map(([name, lane]) => [name, lane.waiting])),
    async close() {
      closing.abort();
      for (const own of timers.values()) for (const cancel of own) cancel();
      timers.clear();
      await Promise.all([following, ...[...lanes.values()].map((lane) => lane.idle())]);
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
};
