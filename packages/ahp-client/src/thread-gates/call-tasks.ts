import type { TaskStatus } from "@harnesskit/protocol/ahp";
import { displayText } from "@harnesskit/wire";
import type { TaskListReporter } from "../reporters/task-list-reporter.ts";
import type { ThreadCall, ThreadCallOutcome } from "./thread-types.ts";

/** Characters of a task's error. */
const maxErrorLength = 500;
const maxTitleLength = 120;
const endings: Readonly<Record<ThreadCallOutcome["status"], TaskStatus>> = {
  succeeded: "completed",
  failed: "failed",
  rejected: "skipped",
  blocked: "skipped",
  cancelled: "cancelled",
  // It is unknown whether it ran, so it is not done.
  unknown: "failed",
};

/** The tool and its file. A command is only in the gate's event: harnesses keep titles on disk. */
const taskTitle = ({ tool, input: { path } }: ThreadCall): string =>
  displayText(typeof path === "string" ? `${tool.name} ${path}` : tool.name, { maxLength: maxTitleLength });

/** The tool calls of a turn as the tasks of its run: pending when the agent has proposed one, in progress when it runs, then as it ended. */
export class CallTasks {
  readonly #tasks: TaskListReporter;
  /** Tasks that have not ended, by the item of their call. */
  readonly #open = new Map<string, "pending" | "in_progress">();

  constructor(tasks: TaskListReporter) {
    this.#tasks = tasks;
  }

  /** A call is judged, perhaps again. */
  proposed(call: ThreadCall): void {
    if (this.#open.has(call.itemId)) return;
    this.#open.set(call.itemId, "pending");
    this.#tasks.add({ id: call.itemId, title: taskTitle(call), metadata: { tool: call.tool.name } });
  }

  started({ itemId }: ThreadCall): void {
    if (this.#open.get(itemId) !== "pending") return;
    this.#open.set(itemId, "in_progress");
    this.#tasks.set(itemId, "in_progress");
  }

  ended({ itemId }: ThreadCall, { status, error }: ThreadCallOutcome): void {
    if (!this.#open.delete(itemId)) return;
    this.#tasks.set(itemId, endings[status], { error: error?.slice(0, maxErrorLength) });
  }

  /** Ends the turn's remaining tasks. */
  end(): void {
    for (const itemId of this.#open.keys()) this.#tasks.set(itemId, "cancelled");
    this.#open.clear();
  }
}
