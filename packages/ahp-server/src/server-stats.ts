import type { DispatcherStats } from "@harnesskit/wire/rpc";

/** What a server counted since it was created: its own part. */
interface AhpCounts {
  /** Connections accepted. */
  connections: number;
  /** Handshakes that succeeded, and those that were refused. */
  handshakes: number;
  refusedHandshakes: number;
  /** Batches that were decided. */
  batches: number;
  /** Decisions that were made, those in batches included, by their name. */
  readonly decisions: Readonly<Record<string, number>>;
  /** Queries that were answered. */
  queries: number;
  /** Handlers that threw, and those that did not return a decision of their event's type. */
  handlerFailures: number;
  invalidDecisions: number;
  /** Handlers that ended after their message was given up. */
  lateResults: number;
  /** Answers that could not be sent as they were: larger than the connection takes. */
  unsendableReplies: number;
  /** Contract events that changed the state; that were older than it; that came after the end of their run. */
  contractsApplied: number;
  contractsStale: number;
  contractsAfterEnd: number;
  /** Contract events that were applied although their order is not regular: back to `created`. */
  contractsIrregular: number;
  /** Contract events that were refused. */
  contractsRejected: number;
  /** Runs that were removed from the state to make room. */
  runsEvicted: number;
}

/** What a server counted since it was created. */
export interface AhpServerStats extends AhpCounts {
  /** Requests and notifications that arrived, the refused ones included. */
  requests: number;
  notifications: number;
  /** Messages that are not JSON-RPC, or not JSON. */
  invalidMessages: number;
  /** Requests and notifications that were refused before a handler saw them. */
  refusedRequests: number;
  refusedNotifications: number;
  /** Messages whose handler took too long. */
  handlerTimeouts: number;
  /** Messages given up because their connection or client went away, or the server was closed. */
  cancelled: number;
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

/** Counts what a server does; what the dispatcher counts is added in `total`. */
export class ServerStats implements AhpCounts {
  connections = 0;
  handshakes = 0;
  refusedHandshakes = 0;
  batches = 0;
  readonly decisions: Record<string, number> = Object.create(null) as Record<string, number>;
  queries = 0;
  handlerFailures = 0;
  invalidDecisions = 0;
  lateResults = 0;
  unsendableReplies = 0;
  contractsApplied = 0;
  contractsStale = 0;
  contractsAfterEnd = 0;
  contractsIrregular = 0;
  contractsRejected = 0;
  runsEvicted = 0;

  /** Counts a decision by its name, which a schema has accepted. */
  decided(name: string): void {
    this.decisions[name] = (this.decisions[name] ?? 0) + 1;
  }

  total(dispatched: DispatcherStats): AhpServerStats {
    const { timeouts, pending: _pending, lateResults, ...counts } = dispatched;
    return {
      ...this,
      ...counts,
      decisions: { ...this.decisions },
      handlerTimeouts: timeouts,
      lateResults: this.lateResults + lateResults,
    };
  }
}
