import type { CompiledGraph, GraphStore } from "@harnesskit/graph";
import type { ErroredTurn } from "@harnesskit/protocol/chat";
import type { Clock, CreateId } from "@harnesskit/wire";
import type { Deliveries } from "./deliveries.ts";
import type { Failure, OnError } from "./errors.ts";
import type { Lanes } from "./lanes.ts";
import type { ChatFields } from "./messages-field.ts";
import type { ChatHarnessLimits, InterruptedTurnsPolicy, TurnReport } from "./options.ts";

/** What the turns of a harness share, however they begin. */
export interface TurnContext<F extends ChatFields> {
  readonly graph: CompiledGraph<F>;
  readonly store: GraphStore;
  readonly clock: Clock;
  readonly createId: CreateId;
  readonly limits: ChatHarnessLimits;
  readonly lanes: Lanes;
  readonly deliveries: Deliveries;
  readonly policy: InterruptedTurnsPolicy;
  /** How long a lease lasts, and how long one is waited for. */
  readonly lease: { readonly ttlMs: number; readonly waitMs: number };
  /** Whether completed turns have the state. */
  readonly includesState: boolean;
  readonly errored: (failure: Failure) => ErroredTurn;
  readonly report: (report: TurnReport) => void;
  readonly onError: OnError;
}
