import { warnPlatform } from "@harnesskit/wire";

/** Something that went wrong beside a run and does not change it. */
export interface GraphWarning {
  readonly kind: "observer_failed" | "observer_queue_full" | "projection_reducer_round_trip";
  readonly message: string;
  readonly cause?: unknown;
}

/** Where warnings go when nobody asks for them. */
export const platformWarning = (warning: GraphWarning): void => warnPlatform("GraphWarning", warning);
