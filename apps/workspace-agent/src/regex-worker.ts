import { Worker } from "node:worker_threads";
import { ToolError } from "@harnesskit/agent-sdk";
import type { Deadline } from "./deadline.ts";

/** A regular expression as text. */
export interface Expression {
  readonly source: string;
  readonly flags: string;
}

const maxHeapMb = 256;

const program = `
const { parentPort, workerData } = require("node:worker_threads");
const expression = new RegExp(workerData.source, workerData.flags);
parentPort.on("message", ({ texts, maxFound }) => {
  const found = [];
  for (let index = 0; index < texts.length && found.length < maxFound; index++)
    if (expression.test(texts[index])) found.push(index);
  parentPort.postMessage(found);
});
`;

/**
 * Tests texts against an expression that somebody else wrote, in a thread of its own: one that takes for ever holds up
 * nothing and ends at the deadline. One call at a time; `close` when done.
 */
export class RegexWorker {
  readonly #worker: Worker;
  readonly #deadline: Deadline;
  #ended = false;

  constructor(expression: Expression, deadline: Deadline) {
    this.#deadline = deadline;
    this.#worker = new Worker(program, {
      eval: true,
      workerData: { source: expression.source, flags: expression.flags },
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
    // What went wrong does not matter: the thread has ended, and calls say so.
    this.#worker.on("error", () => undefined);
    this.#worker.on("exit", () => {
      this.#ended = true;
    });
  }

  /**
   * The indexes of the first `maxFound` texts that match.
   * Throws `ToolError` `tool.timeout`, `tool.canceled`, or `tool.failed` if the expression needs too much memory.
   */
  async matching(texts: readonly string[], maxFound: number): Promise<number[]> {
    this.#deadline.throwIfOver();
    const outOfMemory = () => new ToolError("tool.failed", "the pattern needs too much memory");
    if (this.#ended) throw outOfMemory();
    const worker = this.#worker;
    const { signal } = this.#deadline;
    return new Promise((resolve, reject) => {
      const settle = (action: () => void) => {
        worker.off("message", onMessage);
        worker.off("exit", onExit);
        signal.removeEventListener("abort", onAbort);
        action();
      };
      const onMessage = (found: number[]) => settle(() => resolve(found));
      const onExit = () => settle(() => reject(outOfMemory()));
      const onAbort = () => settle(() => reject(this.#deadline.error()));
      worker.on("message", onMessage);
      worker.on("exit", onExit);
      signal.addEventListener("abort", onAbort, { once: true });
      worker.postMessage({ texts, maxFound });
    });
  }

  /** Ends the thread, also in the middle of a match. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
