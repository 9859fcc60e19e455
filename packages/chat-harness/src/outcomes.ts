import type { ErroredTurn, SignalDescriptor } from "@harnesskit/protocol/chat";
import type { Delivery } from "./deliveries.ts";
import type { ChatCompaction } from "./options.ts";

/** How a compaction ended: with a summary, or null where nothing was said since the last one. */
export type CompactOutcome =
  | { readonly outcome: "completed"; readonly summary: ChatCompaction | null }
  | ErroredTurn;

/** A turn that waits for a signal, whichever process has paused it. */
export interface PendingTurn {
  readonly invocation_id: string;
  /** Null if it has no session. */
  readonly session_id: string | null;
  readonly signal_descriptor: SignalDescriptor;
  /** RFC 3339, UTC. */
  readonly suspended_at: string;
  /** True if a signal was accepted and its run has not ended: it runs, or its process has died. */
  readonly is_signal_accepted: boolean;
}

/** Turns that wait for a signal, and ends of resumed turns that are not delivered. */
export interface OpenTurns {
  readonly suspended: readonly PendingTurn[];
  readonly undelivered: readonly Delivery[];
}

/** The result of a recovery. */
export interface RecoverySummary {
  /** Turns that were resumed. One whose session another process has is not counted: it settles it, or the next recovery does. */
  readonly resumed_count: number;
  /** Turns that could not be resumed; each is reported to `onError`, and waits for a signal again. */
  readonly failed_count: number;
  /** Ends of resumed turns that listeners have received. */
  readonly delivered_count: number;
}
