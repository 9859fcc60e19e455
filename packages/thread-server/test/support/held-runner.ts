import { createDeferred } from "@harnesskit/wire";
import type { TurnRunner } from "../../src/index.ts";

/** A runner whose turns end when the test says so, or when they are stopped. */
export const heldRunner = () => {
  const running = new Map<string, () => void>();
  /** The prompts that ran, in their order. */
  const runs: string[] = [];
  const runner: TurnRunner = {
    async run(turn) {
      const [part] = turn.input;
      runs.push(part?.type === "text" ? part.text : "");
      const done = createDeferred<void>();
      running.set(turn.turn.turnId, () => done.resolve());
      turn.signal.addEventListener("abort", () => done.resolve(), { once: true });
      if (turn.signal.aborted) done.resolve();
      await done.promise;
      turn.signal.throwIfAborted();
    },
  };
  return {
    runner,
    runs,
    isRunning: (turnId: string) => running.has(turnId),
    /** Ends a turn that runs. */
    finish(turnId: string) {
      running.get(turnId)?.();
    },
  };
};
