import { HarnessError } from "@harnesskit/wire";
import type { InterruptedTurnsPolicy } from "./options.ts";

/** A turn whose process died in the middle of it. */
export class TurnInterrupted extends HarnessError {
  static override readonly brand = "TurnInterrupted";
  readonly category = "turn_interrupted";
  constructor(options?: { cause?: unknown }) {
    super(
      "turn_interrupted",
      "the process that ran this turn ended before it; the conversation is unchanged",
      options,
    );
  }
}

/** What ends a turn that was left in place of going on; undefined: it goes on. */
export const obstacleOf = (policy: InterruptedTurnsPolicy): Error | undefined =>
  policy === "report" ? new TurnInterrupted() : undefined;
