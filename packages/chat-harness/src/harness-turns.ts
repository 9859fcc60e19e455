import type { Fields, StateOf } from "@harnesskit/graph";
import type { DispatchPath, ErrorBucket, SignalDescriptor } from "@harnesskit/protocol/chat";
import type { TurnShape } from "./turn-shape.ts";

interface Path {
  /** Which way the turn took; absent where it failed before that was known. */
  readonly dispatch_path?: DispatchPath;
}

interface Facts<F extends Fields> extends Path {
  readonly invocation_id: string;
  /** Null for a turn of no session. */
  readonly session_id: string | null;
  readonly state: StateOf<F>;
}

export interface CompletedHarnessTurn<F extends Fields> extends Facts<F> {
  readonly outcome: "completed";
}

export interface SuspendedHarnessTurn<F extends Fields> extends Facts<F> {
  readonly outcome: "suspended";
  readonly signal_descriptor: SignalDescriptor;
}

export interface ErroredHarnessTurn extends Path {
  readonly outcome: "errored";
  readonly error_bucket: ErrorBucket;
  readonly error_category?: string;
  /** What the error says in its own words. */
  readonly diagnostic: string;
  readonly error: unknown;
}

/** How a turn of any harness ended. */
export type HarnessTurn<F extends Fields> =
  | CompletedHarnessTurn<F>
  | SuspendedHarnessTurn<F>
  | ErroredHarnessTurn;

/** Makes turns that are the ends of invocations, and nothing more. */
export const createHarnessTurns = <F extends Fields>(): TurnShape<F, HarnessTurn<F>> & {
  errored: (...args: Parameters<TurnShape<F, HarnessTurn<F>>["errored"]>) => ErroredHarnessTurn;
} => ({
  completed: ({ invocation_id, session_id, state }) => ({
    outcome: "completed",
    invocation_id,
    session_id,
    state,
  }),
  suspended: ({ invocation_id, session_id, state, descriptor }) => ({
    outcome: "suspended",
    invocation_id,
    session_id,
    state,
    signal_descriptor: descriptor,
  }),
  errored: ({ bucket, category, diagnostic, error }) => ({
    outcome: "errored",
    error_bucket: bucket,
    ...(category === undefined ? {} : { error_category: category }),
    diagnostic,
    error,
  }),
  memo: () => null,
  kept: () => undefined,
  payloadProblem: () => undefined,
});
