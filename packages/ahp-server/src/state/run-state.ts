import type { RunLifecycle, RunStatus, Task, TaskList, Verification } from "@harnesskit/protocol/ahp";

/** What is known of a run: the newest snapshots of its durable contracts. Never changed; a change makes another one. */
export interface RunState {
  readonly run_id: string;
  readonly session_id: string;
  /** The agent that sent the last event about it. */
  readonly agent_id: string;
  /** The sender of that event, as the transport says. */
  readonly principal: unknown;
  /** Undefined while only its tasks or a verification are known. */
  readonly status: RunStatus | undefined;
  /** Whether it is completed, failed or cancelled. */
  readonly isFinished: boolean;
  readonly lifecycle: RunLifecycle | undefined;
  readonly task_list: TaskList | undefined;
  /** One for each attempt, oldest first. */
  readonly verifications: readonly Verification[];
  /** Snapshots that were not applied: older than what was known, or another status after the end. */
  readonly ignored: number;
  /** Snapshots that were applied although their order is not regular. */
  readonly irregular: number;
}

/** Which run, where runs of several sessions or senders have the same id. */
export interface RunSelector {
  /** @default the one updated last */
  readonly sessionId?: string;
}

/** Which runs. */
export interface RunFilter extends RunSelector {
  readonly status?: RunStatus;
  readonly isFinished?: boolean | undefined;
}

/** Which changes to watch. */
export interface RunWatchOptions extends RunFilter {
  readonly runId?: string | undefined;
  /** Ends the watch. */
  readonly signal?: AbortSignal | undefined;
}

/** The durable contracts of all agents, reduced to their runs. */
export interface AhpState {
  /** The runs, the one updated longest ago first. */
  runs(filter?: RunFilter): RunState[];
  run(runId: string, selector?: RunSelector): RunState | undefined;
  /** The tasks of a run; an empty list if they are not known. */
  tasks(runId: string, selector?: RunSelector): readonly Task[];
  /** The verifications of a run, one for each attempt, oldest first. */
  verifications(runId: string, selector?: RunSelector): readonly Verification[];
  /**
   * The runs that there are, then each that changes. Of a run only its newest state waits for a slow reader. Ends with the
   * server, the signal, or when its reader leaves. Throws `buffer_full` when there are `maxWatchers`.
   */
  watch(options?: RunWatchOptions): AsyncIterableIterator<RunState>;
}
