import type { TaskListReporter } from "@harnesskit/ahp-client";
import type { TaskStatus } from "@harnesskit/protocol/ahp";
import type { JudgedCall, ToolOutcome } from "@harnesskit/thread-server";
import { oneLine } from "../terminal/one-line.ts";

/** Characters of a task's error. */
const maxErrorLength = 500;
const maxTitleWidth = 120;

const endings: Readonly<Record<ToolOutcome["status"], TaskStatus>> = {
  succeeded: "completed",
  failed: "failed",
  rejected: "skipped",
  blocked: "skipped",
  cancelled: "cancelled",
  // Whether it ran is not known, and so it is not done.
  unknown: "failed",
};

/** The tool and the file that it is about. What a command says is in the gate's event alone: a state is kept on the disk. */
const titleOf = ({ tool, input: { path } }: JudgedCall): string =>
  oneLine(typeof path === "string" ? `${tool.name} ${path}` : tool.name, maxTitleWidth);

/**
 * The tool calls of a turn as the tasks of its run: pending when the agent has proposed one, in progress when it runs, then
 * as it ended. The agent plans nothing beyond its next calls, so that these are all that is known.
 */
export class CallTasks {
  readonly #tasks: TaskListReporter;
  /** Those that have not ended, by their calls. */
  readonly #open = new Map<string, "pending" | "in_progress">();

  constructor(tasks: TaskListReporter) {
    this.#tasks = tasks;
  }

  /** A call is judged, perhaps again. */
  proposed(call: JudgedCall): void {
    if (this.#open.has(call.itemId)) return;
    this.#tasks.add({ id: call.itemId, title: titleOf(call), metadata: { tool: call.tool.name } });
    this.#open.set(call.itemId, "pending");
  }

  started({ itemId }: JudgedCall): void {
    if (this.#open.get(itemId) !== "pending") return;
    this.#tasks.set(itemId, "in_progress");
    this.#open.set(itemId, "in_progress");
  }

  ended({ itemId }: JudgedCall, { status, error }: ToolOutcome): void {
    if (!this.#open.delete(itemId)) return;
    this.#tasks.set(
      itemId,
      endings[status],
      error === undefined ? {} : { error: error.slice(0, maxErrorLength) },
    );
  }

  /** The turn is over, and what has not ended with it. */
  end(): void {
    for (const itemId of this.#open.keys()) this.#tasks.set(itemId, "cancelled");
    this.#open.clear();
  }
}
