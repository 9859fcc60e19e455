import type { HandshakeParams, HandshakeResult } from "@harnesskit/protocol/ahp";
import type { RequestId } from "@harnesskit/protocol/envelope";
import type { Clock } from "@harnesskit/wire";
import type { AuditTrail } from "./audit-trail.ts";
import type { Decider } from "./decider.ts";
import type { ResolvedLimits } from "./limits.ts";
import type { NotificationLanes } from "./notification-lanes.ts";
import type { ErrorReply } from "./refusal.ts";
import type { AhpServerStats, DecisionCounts } from "./server-stats.ts";
import type { RunStates } from "./state/run-states.ts";
import type { Supervisor } from "./supervisor.ts";

/** What the parts of one server share. */
export interface ServerParts<Context> {
  readonly limits: ResolvedLimits;
  readonly clock: Clock;
  readonly stats: AhpServerStats;
  readonly decisions: DecisionCounts;
  readonly audit: AuditTrail;
  readonly decider: Decider<Context>;
  readonly supervisor: Supervisor<Context>;
  readonly lanes: NotificationLanes;
  readonly states: RunStates;
  /** The answer to a handshake. */
  readonly toHandshakeResult: (handshake: HandshakeParams, context: Context) => HandshakeResult;
  /** Must not throw. */
  readonly onError: (error: unknown) => void;
  readonly isClosed: () => boolean;
}

/** A response with a result. */
export interface ResultReply {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly result: unknown;
}

/** A response of JSON-RPC. */
export type Reply = ResultReply | ErrorReply;

export const resultReply = (id: RequestId, result: unknown): ResultReply => ({ jsonrpc: "2.0", id, result });
