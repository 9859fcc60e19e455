import type { Clock } from "@harnesskit/wire";

/** Notifications that never reached the harness, or of which nobody knows. */
export interface LossReport {
  readonly count: number;
  /** Their size as JSON. */
  readonly bytes: number;
  /** How many of each event type. */
  readonly byType: Readonly<Record<string, number>>;
  /**
   * How many for each reason: `overflow` of the buffer, or the code of a failure, such as `connection_lost`,
   * `depth_exceeded`, `harness_error`, `closed`.
   */
  readonly byReason: Readonly<Record<string, number>>;
  /** What the last failure of each reason said, such as the harness's own words. Reasons that say all are not in it. */
  readonly messages: Readonly<Record<string, string>>;
  /** When the first and the last of them was lost, in milliseconds since the epoch. */
  readonly since: number;
  readonly until: number;
}

interface Losses {
  count: number;
  bytes: number;
  byType: Record<string, number>;
  byReason: Record<string, number>;
  messages: Record<string, string>;
  since: number;
  until: number;
}

/** A notification, as far as its loss is concerned. */
export interface Loss {
  readonly type: string;
  /** As JSON. */
  readonly bytes: number;
}

/** Counts lost notifications until somebody asks. */
export class LossCount {
  readonly #clock: Clock;
  #open: Losses | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add({ type, bytes }: Loss, reason: string, message?: string): void {
    const now = this.#clock.now();
    this.restore({
      count: 1,
      bytes,
      byType: { [type]: 1 },
      byReason: { [reason]: 1 },
      messages: message === undefined ? {} : { [reason]: message },
      since: now,
      until: now,
    });
  }

  /** Those that nobody was told of yet, which are told herewith. */
  take(): LossReport | undefined {
    const report = this.#open;
    this.#open = undefined;
    return report;
  }

  /** Takes back what could not be told. */
  restore({ count, bytes, byType, byReason, messages, since, until }: LossReport): void {
    this.#open ??= { count: 0, bytes: 0, byType: {}, byReason: {}, messages: {}, since, until };
    const open = this.#open;
    open.count += count;
    open.bytes += bytes;
    addAll(open.byType, byType);
    addAll(open.byReason, byReason);
    // What is taken back is older than what has come since.
    open.messages =
      since < open.since ? { ...messages, ...open.messages } : { ...open.messages, ...messages };
    open.since = Math.min(open.since, since);
    open.until = Math.max(open.until, until);
  }
}

const addAll = (counts: Record<string, number>, more: Readonly<Record<string, number>>): void => {
  for (const [name, count] of Object.entries(more)) counts[name] = (counts[name] ?? 0) + count;
};
