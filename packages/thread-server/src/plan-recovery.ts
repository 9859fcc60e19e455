import type { EventBody, Item, Turn } from "@harnesskit/protocol/threads";
import {
  closeOpenItems,
  type Ending,
  endUnfinishedTurn,
  interrupted,
  questionChanged,
  serverStopped,
} from "./close-open-items.ts";
import {
  approvedCalls,
  isPendingIntact,
  type PendingWork,
  pendingItemIds,
  pendingWork,
  requestOf,
} from "./pending-work.ts";
import type { ThreadSession } from "./thread-session.ts";
import type { ThreadState } from "./thread-state.ts";
import type { TurnRequest } from "./turn-runner.ts";

/** What becomes of a turn that an earlier server left open. */
export interface RecoveryPlan {
  /** Events to append: they end the turn, or what was open in it beside what goes on. */
  readonly endings: readonly EventBody[];
  /** How the turn goes on; undefined where it ends. */
  readonly goesOn?: GoesOn;
}

interface GoesOn {
  readonly request: TurnRequest;
  /** What the turn waits for, with the calls of the step that were allowed before; answered, it runs what was approved and goes on to its end. @default it waits for nothing */
  readonly pending?: PendingWork;
  /** How often in a row it has gone on by now. @default 1 */
  readonly attempt?: number;
}

/**
 * Plans how the open turn of a stored thread goes on: it waits on if all that its questions need is there and unchanged. One that waits
 * for nothing ends with one `turn.error`, or goes on from its last step, as `interruptedTurns` says. It ends, too, where the thread's directory
 * or its agent is no longer there.
 */
export const planRecovery = async (session: ThreadSession): Promise<RecoveryPlan> => {
  const { state, settings } = session;
  const { agents, clock, interruptedTurns, limits } = settings;
  const isRetried = interruptedTurns === "retry";
  const end = (ending: Ending): RecoveryPlan => ({ endings: endUnfinishedTurn(state, ending, clock.now()) });
  const pending = pendingWork(state);
  const request = state.turn && requestOf(state.turn.turnId, state, agents);
  const inPlace = await session.checkDirectory().then(
    () => true,
    () => false,
  );
  if (!request || !inPlace || !(pending || isRetried)) return end(interrupted);
  if (pending && !(await isPendingIntact(pending, state))) return end(questionChanged);
  const allowed = pending ? await approvedCalls(state, settings.store.answerSeal) : [];
  const work = pending && { ...pending, calls: inOrder([...pending.calls, ...allowed]) };
  const waits = work ? pendingItemIds(work) : new Set<string>();
  // What has to be known of the tools first is closed when they are known.
  const isKept = ({ itemId, type }: Item) =>
    waits.has(itemId) || (isRetried && (type === "tool_exec" || type === "user_message"));
  const rest = state.openItems.filter(({ item }) => !isKept(item));
  const endings = closeOpenItems(rest, serverStopped, "interrupted", state.history);
  if (work) return { endings, goesOn: { pending: work, request } };
  const attempt = state.attempts + 1;
  if (attempt > limits.maxTurnAttempts || isWithheld(state)) return end(interrupted);
  const { threadId, turnId } = state.turn as Turn;
  const resumed = { threadId, turnId, step: nextStep(state), reason: "interrupted" as const, attempt };
  return { endings: [...endings, { type: "turn.resumed", data: resumed }], goesOn: { request, attempt } };
};

/** The calls of a step as the model made them. */
const inOrder = (calls: PendingWork["calls"]): PendingWork["calls"] =>
  calls.toSorted((one, other) => (one.item.data.index ?? 0) - (other.item.data.index ?? 0));

/** True where the agent was not allowed to get the prompt, and the turn was about to end. */
const isWithheld = ({ history, turn }: ThreadState): boolean =>
  history.some(
    (item) => item.turnId === turn?.turnId && item.type === "user_message" && item.data?.withheld === true,
  );

/** The first step of the open turn that is made again. */
const nextStep = ({ steps, history, openItems, turn }: ThreadState): number => {
  const items = [...history, ...openItems.map(({ item }) => item)];
  const called = items.flatMap((item) =>
    item.turnId === turn?.turnId && item.type === "tool_exec" ? (item.data?.step ?? []) : [],
  );
  return Math.max(-1, ...called, ...steps.map(({ step }) => step)) + 1;
};
