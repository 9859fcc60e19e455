import type { GraphStore, SuspensionFilter } from "@harnesskit/graph";
import type { SignalDescriptor, SuspensionSummary } from "@harnesskit/protocol/chat";

/** A turn that waits for a signal, whichever process has paused it. */
export interface PendingTurn {
  readonly invocation_id: string;
  /** Null for one of no session. */
  readonly session_id: string | null;
  readonly signal_descriptor: SignalDescriptor;
  /** RFC 3339, UTC. */
  readonly suspended_at: string;
  /** True where a signal was accepted for it and its run has not ended: it runs, or its process has died. */
  readonly is_signal_accepted: boolean;
}

const toPending = (record: SuspensionSummary): PendingTurn => ({
  invocation_id: record.invocation_id,
  session_id: record.session_id,
  signal_descriptor: record.descriptor,
  suspended_at: record.suspended_at,
  is_signal_accepted: record.signal !== null,
});

/** What waits, in the order in which it was suspended. Rejects as the store does. */
export const listPending = async (
  { suspensions }: GraphStore,
  filter: Pick<SuspensionFilter, "sessionId">,
): Promise<PendingTurn[]> => (await suspensions.list({ ...filter, status: "suspended" })).map(toPending);
