/** Notifications that never reached the harness, or whose fate is unknown. */
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

type Counts = Readonly<Record<string, number>>;

const sumOf = (one: Counts, other: Counts): Counts => {
  const sum = { ...one };
  for (const [name, count] of Object.entries(other)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
};

/** The losses of both reports, the later of which is `newer`. */
export const mergeLosses = (older: LossReport | undefined, newer: LossReport): LossReport =>
  older
    ? {
        count: older.count + newer.count,
        bytes: older.bytes + newer.bytes,
        byType: sumOf(older.byType, newer.byType),
        byReason: sumOf(older.byReason, newer.byReason),
        messages: { ...older.messages, ...newer.messages },
        since: older.since,
        until: newer.until,
      }
    : newer;

/** The payload of the `error` event that reports losses to the harness. */
export const toErrorPayload = ({ count, bytes, byType, byReason, since, until }: LossReport) => ({
  code: "notifications_lost",
  count,
  bytes,
  by_type: byType,
  by_reason: byReason,
  since: new Date(since).toISOString(),
  until: new Date(until).toISOString(),
});
