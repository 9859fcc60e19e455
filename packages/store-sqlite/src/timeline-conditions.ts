import type { TimelineFilter } from "@harnesskit/protocol/hub";
import { type SessionsRequest, searchable } from "@harnesskit/timeline";
import { type SqlValue, toKey } from "./sql-values.ts";

/** SQL with a `?` for each of its values. */
export type Condition = readonly [sql: string, values: readonly SqlValue[]];

const given = (sql: string, value: SqlValue | undefined): Condition[] =>
  value === undefined ? [] : [[sql, [value]]];

const key = (text: string | undefined): SqlValue | undefined =>
  text === undefined ? undefined : toKey(text);

/** What a row must be to pass a filter. */
export const conditionsOf = (filter: TimelineFilter): readonly Condition[] => {
  const { agent, session, turn, tool, decision, rule, state, failedOnly, text, sinceMs, untilMs } = filter;
  const equal = Object.entries({ agent, session, turn, tool, decision, rule, state });
  return [
    ...equal.flatMap(([column, value]) => given(`${column} = ?`, key(value))),
    ...(failedOnly === true ? [["state IN ('failed', 'refused', 'unknown')", []] as const] : []),
    ...given("instr(words, ?) > 0", text === undefined ? undefined : searchable(text)),
    ...given("at >= ?", sinceMs),
    ...given("at < ?", untilMs),
  ];
};

/** What a session must be that was asked for. */
export const sessionConditionsOf = (request: SessionsRequest): readonly Condition[] => {
  const { agent, session, sinceMs, untilMs, after } = request;
  return [
    ...given("agent = ?", key(agent)),
    ...given("session = ?", key(session)),
    ...given("last_seen >= ?", sinceMs),
    ...given("first_seen < ?", untilMs),
    ...(after === undefined
      ? []
      : [
          [
            "(-last_seen, agent, session) > (?, ?, ?)",
            [-after.lastSeenMs, toKey(after.agent), toKey(after.session)],
          ] as const,
        ]),
  ];
};

/** Fields of a filter that an index finds; their rows are all looked at, and only further fields need a bound. */
export const indexOf = ({ agent, session, failedOnly }: TimelineFilter): readonly string[] => {
  if (agent !== undefined && session !== undefined) return ["agent", "session"];
  return failedOnly === true ? ["state"] : [];
};

/** Whether a condition is on columns of the index that searches read. */
export const isSearched = ([sql]: Condition): boolean => /^(?:tool|decision|instr\(words)\b/.test(sql);
