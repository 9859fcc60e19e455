import type { EventBody } from "@harnesskit/protocol/threads";
import { closeOpenItems, endUnfinishedTurn, interrupted, questionChanged } from "./close-open-items.ts";
import {
  isPendingIntact,
  type PendingWork,
  pendingItemIds,
  pendingWork,
  requestOf,
} from "./pending-questions.ts";
import type { ThreadSession } from "./thread-session.ts";
import type { TurnRequest } from "./turn-runner.ts";

/** What becomes of a turn that an earlier server left open. */
export interface RecoveryPlan {
  /** Events to append: they end the turn, or what was open in it beside its questions. */
  readonly endings: readonly EventBody[];
  /** What the turn waits for; answered, it runs what was approved and goes on to its end. */
  readonly waiting?: { readonly pending: PendingWork; readonly request: TurnRequest };
}

/**
 * Plans how the open turn of a stored thread goes on: it waits on if all that its questions need is there and unchanged, and ends
 * with one `turn.error` otherwise, also where the thread's directory is no longer where it was.
 */
export const planRecovery = async (session: ThreadSession): Promise<RecoveryPlan> => {
  const { state, settings } = session;
  const { agents, clock } = settings;
  const pending = pendingWork(state);
  const request = pending && state.turn && requestOf(state.turn.turnId, state, agents);
  const inPlace = await session.checkDirectory().then(
    () => true,
    () => false,
  );
  if (!pending || !request || !inPlace)
    return { endings: endUnfinishedTurn(state, interrupted, clock.now()) };
  if (!(await isPendingIntact(pending, state))) {
    return { endings: endUnfinishedTurn(state, questionChanged, clock.now()) };
  }
  const waits = pendingItemIds(pending);
  const rest = state.openItems.filter(({ item }) => !waits.has(item.itemId));
  const reason = "The server stopped before this ended.";
  return {
    endings: closeOpenItems(rest, reason, "interrupted", state.history),
    waiting: { pending, request },
  };
};
