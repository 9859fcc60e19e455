import type { HandshakeParams, HandshakeResult } from "@harnesskit/protocol/ahp";
import type { RequestId } from "@harnesskit/protocol/envelope";
import type { Clock, ProtocolError } from "@harnesskit/wire";
import type { Call, CallOutcome, KeyedLanes, RpcMethod } from "@harnesskit/wire/rpc";
import type { AgentOrigin } from "./agent-origin.ts";
import type { AuditTrail } from "./audit-trail.ts";
import type { Decider } from "./decider.ts";
import type { HandlerCall } from "./handlers.ts";
import type { AhpServerLimits } from "./limits.ts";
import { handshakeRequired } from "./refusal.ts";
import type { Runs } from "./state/runs.ts";

/** What the methods of one server share. */
export interface MethodParts<Context> {
  readonly limits: AhpServerLimits;
  readonly clock: Clock;
  /** Counts a decision by its name. */
  readonly countDecision: (name: string) => void;
  readonly audit: AuditTrail;
  readonly decider: Decider<Context>;
  readonly runs: Runs;
  /** The notifications of one session are handled one after the other. */
  readonly lanes: KeyedLanes;
  /** The answer to a handshake. */
  readonly handshakeResult: HandshakeResult;
  readonly onHandshake: ((handshake: HandshakeParams, context: Context) => void) | undefined;
  /** Must not throw. */
  readonly onError: (error: unknown) => void;
}

export type AgentCall<Context> = Call<AgentOrigin<Context>>;
export type Method<Params, Context> = RpcMethod<Params, AgentOrigin<Context>>;

/** The handshake that applies to a session. Throws -32600 without one. */
export const requireHandshake = <Context>(call: AgentCall<Context>, sessionId: string): HandshakeParams => {
  const handshake = call.context.handshakeOf(sessionId);
  if (!handshake) throw handshakeRequired();
  return handshake;
};

/** What a handler gets; the events of a batch share the time and the signal of the batch. */
export class EventCall<Context> implements HandlerCall<Context> {
  readonly #call: AgentCall<Context>;

  constructor(
    call: AgentCall<Context>,
    readonly handshake: HandshakeParams,
    readonly batchIndex: number | undefined = undefined,
  ) {
    this.#call = call;
  }

  get context(): Context {
    return this.#call.context.context;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get requestId(): RequestId | undefined {
    return this.#call.id;
  }
}

/** The result of a call, or the error that answers it. */
export const resultOrError = <T>(outcome: CallOutcome): T | ProtocolError =>
  "error" in outcome ? outcome.error : (outcome.result as T);
