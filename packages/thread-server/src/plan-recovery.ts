import type { EventBody, Item } from "@harnesskit/protocol/threads";
import {
  closeOpenItems,
  type Ending,
  endUnfinishedTurn,
  interrupted,
  questionChanged,
  serverStopped,
} from "./close-open-items.ts";
import { isCall, isIntact, isOpen, isPrompt, type Pending, readPending } from "./pending-questions.ts";
import type { ThreadSession } from "./thread-session.ts";
import type { ThreadState } from "./thread-state.ts";
import type { AgentProfile, TurnRequest } from "./turn-runner.ts";

/** What a turn of an earlier server waits for: its prompt, or calls, with those of the step that were allowed before. */
export interface PendingWork {
  readonly calls: readonly Pending<"tool_exec">[];
  readonly prompt: Pending<"user_message"> | undefined;
}

/** What becomes of a turn that an earlier server left open. */
export interface RecoveryPlan {
  /** Events to append: they end the turn, or what was open in it beside what goes on. */
  readonly endings: readonly EventBody[];
  /** How the turn goes on; undefined where it ends. */
  readonly goesOn?: {
    readonly request: TurnRequest;
    /** Answered, it runs what was approved and goes on to its end. @default it waits for nothing */
    readonly pending?: PendingWork;
    /** How often in a row it has gone on by now. @default 1 */
    readonly attempt?: number;
  };
}

/**
 * Plans how the open turn of a stored thread goes on: it waits on if all that its questions need is there and unchanged. One that waits
 * for nothing ends with one `turn.error`, or goes on from its last step, as `interruptedTurns` says. It ends, too, where the thread's directory
 * or its agent is no longer there.
 */
export const planRecovery = async (session: ThreadSession, turnId: string): Promise<RecoveryPlan> => {
  const { state, settings, threadId } = session;
  const { agents, clock, interruptedTurns, limits, store } = settings;
  const isRetried = interruptedTurns === "retry";
  const end = (ending: Ending): RecoveryPlan => ({ endings: endUnfinishedTurn(state, ending, clock.now()) });
  const items = [...state.history, ...state.openItems.map(({ item }) => item)].filter(
    (item) => item.turnId === turnId,
  );
  const request = requestIn(items, agents);
  const inPlace = await session.checkDirectory().then(
    () => true,
    () => false,
  );
  const questions = await readPending(state, store.answerSeal);
  const waiting = questions.filter(({ question }) => question.answer === undefined);
  if (!request || !inPlace || !(waiting.length > 0 || isRetried)) return end(interrupted);
  for (const pending of waiting) if (!(await isIntact(pending, state))) return end(questionChanged);
  const calls = questions.filter(isCall).filter(isOpen).sort(byIndex);
  const asked = waiting.length === 0 ? [] : [...calls, ...waiting];
  const kept = new Set(asked.flatMap(({ question, item }) => [question.itemId, item.itemId]));
  // What has to be known of the tools first is closed when they are known.
  const isKept = ({ itemId, type }: Item) =>
    kept.has(itemId) || (isRetried && (type === "tool_exec" || type === "user_message"));
  const rest = state.openItems.filter(({ item }) => !isKept(item));
  const endings = closeOpenItems(rest, serverStopped, "interrupted", state.history);
  if (waiting.length > 0)
    return { endings, goesOn: { request, pending: { calls, prompt: waiting.find(isPrompt) } } };
  const attempt = state.attempts + 1;
  // The agent was not allowed to get the prompt, and the turn was about to end.
  const isWithheld = state.history.some(
    (item) => item.turnId === turnId && item.type === "user_message" && item.data?.withheld === true,
  );
  if (attempt > limits.maxTurnAttempts || isWithheld) return end(interrupted);
  const resumed = { threadId, turnId, step: nextStep(state, items), reason: "interrupted" as const, attempt };
  return { endings: [...endings, { type: "turn.resumed", data: resumed }], goesOn: { request, attempt } };
};

/** What a turn was asked, from its user message; undefined where its agent no longer exists. */
const requestIn = (items: readonly Item[], agents: readonly AgentProfile[]): TurnRequest | undefined => {
  const said = items.findLast(({ type }) => type === "user_message");
  if (said?.type !== "user_message" || !said.data) return undefined;
  const { content: input, agent: name, model, compact } = said.data;
  const agent = agents.find((profile) => profile.name === name);
  return agent && { input, agent, model, compact };
};

/** The calls of a step as the model made them. */
const byIndex = (one: Pending<"tool_exec">, other: Pending<"tool_exec">): number =>
  (one.item.data.index ?? 0) - (other.item.data.index ?? 0);

/** The first step of the open turn that is made again. */
const nextStep = ({ steps }: ThreadState, items: readonly Item[]): number => {
  const called = items.flatMap((item) => (item.type === "tool_exec" ? (item.data?.step ?? []) : []));
  return Math.max(-1, ...called, ...steps.map(({ step }) => step)) + 1;
};
