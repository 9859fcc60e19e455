import type { TurnContext } from "../turn-runner.ts";
import { BrokenStream } from "./broken-stream.ts";
import { type StepOptions, type StepResult, streamStep } from "./stream-step.ts";

/** Calls the model, and once more where its stream breaks off after it has begun, or falls silent. Throws as `streamStep` does. */
export const askModel = async (turn: TurnContext, options: StepOptions): Promise<StepResult> => {
  try {
    return await streamStep(turn, options);
  } catch (error) {
    if (!(error instanceof BrokenStream)) throw error;
    options.onRetry?.(error.message);
    await turn.repeatStep(options.step);
    return streamStep(turn, options);
  }
};
