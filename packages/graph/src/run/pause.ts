import type { CompletedPosition, SignalDescriptor } from "@harnesskit/protocol/chat";
import { HarnessError } from "@harnesskit/wire";
import type { GraphError } from "../errors.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { TaskMetadata } from "./node-run.ts";

/** The state of one graph at a pause, and its node that had not ended. */
export interface PauseFrame {
  readonly node: string;
  readonly state: Snapshot;
}

export interface PauseFacts {
  readonly descriptor: SignalDescriptor;
  readonly markNodeCompleted: boolean;
  readonly attemptIndex: number;
  /** The names on the way to the node that suspended. */
  readonly namespace: readonly string[];
}

/** Thrown through the graph by a node that suspends. */
export class Pause extends HarnessError {
  override readonly name = "Pause";
  descriptor: SignalDescriptor;
  readonly markNodeCompleted: boolean;
  readonly attemptIndex: number;
  readonly namespace: readonly string[];
  /** The innermost node that can be gone back to: the suspending one, or the fan-out or branches node around it. */
  position: CompletedPosition | undefined;
  /** The graphs on the way out, innermost first. */
  frames: PauseFrame[] = [];
  /** Tell the observers how it ended: suspended, or failed because it could not be kept. In the order of the events. */
  readonly reports: ((error?: GraphError) => void)[] = [];

  constructor(facts: PauseFacts) {
    super("invocation_suspended", `${facts.namespace.join(" › ")} waits for ${facts.descriptor.signal_id}`);
    this.descriptor = facts.descriptor;
    this.markNodeCompleted = facts.markNodeCompleted;
    this.attemptIndex = facts.attemptIndex;
    this.namespace = facts.namespace;
  }

  /** Makes it a pause of the node around: what was inside of it is run again or not at all. */
  lift(metadata: TaskMetadata): void {
    this.descriptor = { ...this.descriptor, metadata: { ...this.descriptor.metadata, ...metadata } };
    this.frames = [];
  }

  report(error?: GraphError): void {
    for (const report of this.reports) report(error);
  }
}

/**
 * True for what a suspending node throws through its own code and the middleware around it. Pass it on: catching it changes
 * nothing, and calling `next` again throws it again.
 */
export const isSuspension = (error: unknown): boolean =>
  HarnessError.isInstance(error) && error.name === "Pause";
