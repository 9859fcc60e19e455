import type { JsonObject } from "@harnesskit/protocol/envelope";

/** A signal as it arrives. It names the suspension by its signal id, by its invocation id, or by both. */
export interface Signal {
  /** As in the descriptor of the suspension. */
  readonly signalId?: string;
  readonly invocationId?: string;
  /** Where it is given, the suspension has to be one of this session. @default any */
  readonly sessionId?: string;
  /** Values that are put over the state, whole, without the reducers. @default {} */
  readonly payload?: JsonObject;
}

/**
 * What became of a signal. `resumed`: the turn went on, and ended or paused again. `already_resolved`: another delivery of it, or
 * another signal, has resumed or is resuming the suspension. `refused`: nothing has run, and what waits still waits.
 */
export type SignalResult<Turn, Refusal> =
  | {
      readonly outcome: "resumed";
      readonly invocation_id: string;
      readonly session_id: string | null;
      readonly turn: Turn;
    }
  | { readonly outcome: "already_resolved" }
  | Refusal;
