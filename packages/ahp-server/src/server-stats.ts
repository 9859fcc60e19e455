/** What a server has counted since it was made, and what it holds now. */
export interface AhpServerStats {
  /** Connections taken. */
  connections: number;
  /** Handshakes that succeeded, and those that were refused. */
  handshakes: number;
  refusedHandshakes: number;
  /** Requests and notifications that came, whatever became of them. */
  requests: number;
  notifications: number;
  /** Messages that are none of JSON-RPC, or no JSON at all. */
  invalidMessages: number;
  /** Requests and notifications that were refused before a handler saw them. */
  refusedRequests: number;
  refusedNotifications: number;
  /** Batches that were decided. */
  batches: number;
  /** Decisions that were made, those in batches included, by their name. */
  readonly decisions: Readonly<Record<string, number>>;
  /** Queries that were answered. */
  queries: number;
  /** Handlers that threw, and those that returned no decision of their event's type. */
  handlerFailures: number;
  invalidDecisions: number;
  /** Messages whose handler took too long. */
  handlerTimeouts: number;
  /** Messages given up because their connection or client went away, or the server was closed. */
  cancelled: number;
  /** Handlers that ended after their message was given up. */
  lateResults: number;
  /** Answers that could not be sent as they were: larger than the connection takes. */
  unsendableReplies: number;
  /** Contract events that changed the state; that were older than it; that came after the end of their run. */
  contractsApplied: number;
  contractsStale: number;
  contractsAfterEnd: number;
  /** Contract events that were applied though no run goes this way: back to `created`. */
  contractsIrregular: number;
  /** Contract events that were refused. */
  contractsRejected: number;
  /** Runs that went from the state to make room. */
  runsEvicted: number;
}

/** What a server holds at the moment. */
export interface AhpServerGauges {
  /** Connections that are open. */
  readonly openConnections: number;
  /** Messages that wait for their handlers. */
  readonly pending: number;
  /** Handshakes of exchanges. */
  readonly sessions: number;
  /** Runs in the state. */
  readonly runs: number;
}

/** Counts decisions by name; a name that a schema has accepted. */
export class DecisionCounts {
  readonly counts: Record<string, number> = Object.create(null) as Record<string, number>;

  add(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }
}

/** All at zero. */
export const createStats = (decisions: DecisionCounts): AhpServerStats => ({
  connections: 0,
  handshakes: 0,
  refusedHandshakes: 0,
  requests: 0,
  notifications: 0,
  invalidMessages: 0,
  refusedRequests: 0,
  refusedNotifications: 0,
  batches: 0,
  decisions: decisions.counts,
  queries: 0,
  handlerFailures: 0,
  invalidDecisions: 0,
  handlerTimeouts: 0,
  cancelled: 0,
  lateResults: 0,
  unsendableReplies: 0,
  contractsApplied: 0,
  contractsStale: 0,
  contractsAfterEnd: 0,
  contractsIrregular: 0,
  contractsRejected: 0,
  runsEvicted: 0,
});
