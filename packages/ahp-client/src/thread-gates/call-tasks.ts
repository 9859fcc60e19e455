import type { TaskStatus } from "@harnesskit/protocol/ahp";
import { type Clock, callSafely, displayText } from "@harnesskit/wire";
import type { TaskListReporter } from "../reporters/task-list-reporter.ts";
import type { ThreadCall, ThreadCallOutcome } from "./thread-types.ts";

/** Characters of a task's error. */
const maxErrorLength = 500;
const maxTitleLength = 120;
/** A change is reported at the latest after so many milliseconds, with those that come meanwhile: each report is the whole list. */
const reportDelayMs = 250;
/** Changes that wait to be reported. */
const maxWaiting = 100;

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

/**
 * The tool calls of a turn as the tasks of its run: pending when the agent has proposed one, in progress when it runs, then
 * as it ended. A state that lasts less than 250 ms may be left out.
 */
export class CallTasks {
  readonly #tasks: TaskListReporter;
  readonly #clock: Clock;
  /** Tasks that have not ended, by the item of their call. */
  readonly #open = new Map<string, "pending" | "in_progress">();
  /** Changes that are not reported yet. */
  #waiting: (() => void)[] = [];
  #stopTimer: (() => void) | undefined;

  constructor(tasks: TaskListReporter, clock: Clock) {
    this.#tasks = tasks;
    this.#clock = clock;
  }

  /** A call is judged, perhaps again. */
  proposed(call: ThreadCall): void {
    if (this.#open.has(call.itemId)) return;
    this.#open.set(call.itemId, "pending");
    const task = { id: call.itemId, title: taskTitle(call), metadata: { tool: call.tool.name } };
    this.#change(() => this.#tasks.add(task));
  }

  started({ itemId }: ThreadCall): void {
    if (this.#open.get(itemId) !== "pending") return;
    this.#open.set(itemId, "in_progress");
    this.#change(() => this.#tasks.set(itemId, "in_progress"));
  }

  ended({ itemId }: ThreadCall, { status, error }: ThreadCallOutcome): void {
    if (!this.#open.delete(itemId)) return;
    const details = error === undefined ? {} : { error: error.slice(0, maxErrorLength) };
    this.#change(() => this.#tasks.set(itemId, endings[status], details));
  }

  /** Ends the turn's remaining tasks. */
  end(): void {
    for (const itemId of this.#open.keys()) this.#change(() => this.#tasks.set(itemId, "cancelled"));
    this.#open.clear();
    this.report();
  }

  /** Reports what waits, now. */
  report(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const changes = this.#waiting;
    this.#waiting = [];
    this.#tasks.batch(() => {
      for (const change of changes) change();
    });
  }

  #change(change: () => void): void {
    this.#waiting.push(change);
    if (this.#waiting.length >= maxWaiting) this.report();
    else this.#stopTimer ??= this.#clock.after(reportDelayMs, () => callSafely(() => this.report()));
  }
}
