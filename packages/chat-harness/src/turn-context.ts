import type { GraphStore } from "@harnesskit/graph";
import type { Clock } from "@harnesskit/wire";
import type { Deliveries } from "./deliveries.ts";
import type { OnError } from "./errors.ts";
import type { Lanes } from "./lanes.ts";
import type { ChatFields } from "./messages-field.ts";
import type { ChatHarnessLimits, InterruptedTurnsPolicy } from "./options.ts";
import type { TurnRunner } from "./turn-runner.ts";

/** What the turns of a harness share, however they begin. */
export interface TurnContext<F extends ChatFields> {
  readonly store: GraphStore;
  readonly clock: Clock;
  readonly limits: ChatHarnessLimits;
  readonly lanes: Lanes;
  readonly runner: TurnRunner<F>;
  readonly deliveries: Deliveries;
  readonly policy: InterruptedTurnsPolicy;
  readonly leaseTtlMs: number;
  readonly leaseWaitMs: number;
  readonly onError: OnError;
}
