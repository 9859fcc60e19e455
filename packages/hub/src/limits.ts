import { defineLimits, type LimitsOf } from "@harnesskit/wire";

export const hubLimits = defineLimits({
  /** The `timeout_ms` that agents are offered: the longest time that one question is held for a human. */
  maxHoldMs: 600_000,
  /** How long a question is held for an agent that does not say how long it waits (`metadata.wait_ms`). */
  holdMs: { default: 9_000, min: 0 },
  /** How long before the agent's own deadline a held question is answered with `defer`. */
  deadlineMarginMs: 1_000,
  /** The `retry_after_ms` of a `defer`: the human had no time yet. */
  retryAfterMs: 2_000,
  /** Questions held at a time; further ones are answered with `defer` at once. */
  maxHeld: 1_000,
  /**
   * Open questions of one client: one connection, or the credential of all its exchanges. Another is refused, and other clients are
   * served.
   */
  maxQuestionsPerClient: 200,
  /** The same for all clients that came in the same way, so that connecting anew gains nothing for long. */
  maxQuestionsPerCredential: 700,
  /** A running action without an outcome is `unknown` after this time. */
  outcomeWithinMs: { default: 3_600_000, max: Number.MAX_SAFE_INTEGER },
  /** How long an agent whose connection is lost may come back before its running actions are `unknown`. */
  returnWithinMs: { default: 5_000, min: 0 },
  /** How long a row of a policy's decision may wait for others before it is written; a kill may lose it until then. */
  recordWithinMs: { default: 20, min: 0 },
  /** Rows that may wait to be written; then decisions wait, too. While the store is away further rows are missing: one row says how many. */
  maxUnwritten: 10_000,
  /** Characters of JSON of an event, of an output and of a changed input that the timeline keeps. */
  maxContentLength: 65_536,
  /** Agents and connections that are known. */
  maxAgents: 1_000,
  /** Watches of one client of the API. */
  maxWatchesPerClient: 20,
  /** Clients of the API at a time. */
  maxClients: 100,
  /** Answers of all clients together within a minute, refused ones included; a page may answer several at once. */
  maxAnswersPerMinute: 120,
  /** Events that one backtest looks at. */
  maxBacktestEvents: 50_000,
  /** How long the hub holds an agent's query for commands while there is none. */
  holdControlMs: 30_000,
  /** How long an agent may take to carry out a command of a human, such as a stop. */
  controlWithinMs: 10_000,
  /** Rows that one `activity.list` counts. */
  maxActivityRows: 50_000,
});
export type HubLimits = LimitsOf<typeof hubLimits>;
