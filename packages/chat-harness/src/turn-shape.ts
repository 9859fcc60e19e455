import type { CompletedOutcome, Fields, StateOf, SuspendedOutcome } from "@harnesskit/graph";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { Failure } from "./failure.ts";

/** What a kind of harness makes of the ends of invocations. A memo is what it keeps with a pause; null before the first. */
export interface TurnShape<F extends Fields, Turn> {
  completed(outcome: CompletedOutcome<StateOf<F>>, memo: JsonValue): Turn;
  suspended(outcome: SuspendedOutcome<StateOf<F>>): Turn;
  errored(failure: Failure): Turn;
  /** What is kept with a pause, for the end of the turn. */
  memo(outcome: SuspendedOutcome<StateOf<F>>, isResumed: boolean, before: JsonValue): JsonValue;
  /** What is kept of the end of a resumed turn until somebody has got it; undefined: nothing. */
  kept(turn: Turn): JsonValue | undefined;
  /** Why a signal's payload cannot be taken; undefined where it can. */
  payloadProblem(payload: JsonObject): string | undefined;
}
