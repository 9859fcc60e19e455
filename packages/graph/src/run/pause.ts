import type { CompletedPosition, SignalDescriptor } from "@harnesskit/protocol/chat";
import { HarnessError } from "@harnesskit/wire";
import { GraphError, type GraphErrorDetails } from "../errors.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { TaskName } from "./frame.ts";

export const unsupported = (message: string, details: GraphErrorDetails = {}): GraphError =>
  new GraphError("suspension_in_unsupported_context", message, details);

/** True for an attempt to suspend where that is not possible; it fails the whole run. */
export const isUnsupported = (error: unknown): error is GraphError =>
  GraphError.isInstance(error) && error.code === "suspension_in_unsupported_context";

/** The state of one graph at a pause, and its node that had not ended. */
export interface PauseFrame {
  readonly node: string;
  readonly state: Snapshot;
}

/** Thrown through the graph by a node that suspends. */
export class Pause extends HarnessError {
  static override readonly brand = "Pause";
  /** The innermost node that a resume can return to: the suspending one, or the fan-out or branches node around it. */
  position: CompletedPosition | undefined;
  /** The graphs on the way out, innermost first. */
  frames: PauseFrame[] = [];
  /** Report to observers how it ended: suspended, or failed because it could not be stored. In the order of the events. */
  readonly reports: ((error?: GraphError) => void)[] = [];

  /** @param namespace the names on the way to the node that suspended */
  constructor(
    public descriptor: SignalDescriptor,
    readonly markNodeCompleted: boolean,
    readonly attemptIndex: number,
    readonly namespace: readonly string[],
  ) {
    super("invocation_suspended", `${namespace.join(" › ")} waits for ${descriptor.signal_id}`);
  }

  /** Turns it into a pause of the node around; what was inside of that runs again or not at all. */
  lift(task: TaskName): void {
    this.descriptor = { ...this.descriptor, metadata: { ...this.descriptor.metadata, ...task } };
    this.frames = [];
  }

  report(error?: GraphError): void {
    for (const report of this.reports) report(error);
  }
}

/**
 * True for what a suspending node throws through its own code and the middleware around it. Rethrow it: catching it has no
 * effect, and calling `next` again throws it again.
 */
export const isSuspension = (error: unknown): boolean => Pause.isInstance(error);
