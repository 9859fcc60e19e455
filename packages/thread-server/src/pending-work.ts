import type { Event, Item, ItemData, ItemOf } from "@harnesskit/protocol/threads";
import { canonicalJson, digest } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import {
  isAllowed,
  isSealed,
  type PendingQuestion,
  promptDigest,
  promptPermission,
} from "./approval-answer.ts";
import type { Question } from "./question.ts";
import type { ThreadState } from "./thread-state.ts";
import type { AnswerSeal } from "./thread-store.ts";
import type { AgentProfile, TurnRequest } from "./turn-runner.ts";

/** A call that waits for a human, or was allowed by one and has not begun, with its question. */
export interface PendingCall {
  readonly question: PendingQuestion;
  readonly call: ItemOf<"tool_exec"> & { data: ItemData<"tool_exec"> };
}

/** A prompt that waits for a human, with its question. */
export interface PendingPrompt {
  readonly question: PendingQuestion;
  readonly message: ItemOf<"user_message">;
}

/** What waits for a human in a log. */
export interface PendingWork {
  readonly calls: readonly PendingCall[];
  readonly prompt: PendingPrompt | undefined;
}

/** The calls and the prompt of a log that wait for a human; undefined where nothing does. */
export const pendingWork = (state: ThreadState): PendingWork | undefined => {
  const items = state.openItems.map(({ item }) => item);
  const questions = state.openApprovals.flatMap(({ itemId, data }): PendingQuestion[] =>
    data ? [{ itemId, data, askedAt: state.requestedAt(data.requestId) }] : [],
  );
  const calls = questions.flatMap((question): PendingCall[] => {
    const item = items.find(({ itemId }) => itemId === question.data.toolItemId);
    return item?.type === "tool_exec" && item.data ? [{ question, call: { ...item, data: item.data } }] : [];
  });
  const message = items.find((item) => item.type === "user_message");
  const question = questions.find(
    ({ data }) => data.permission === promptPermission && data.toolItemId === undefined,
  );
  const prompt = message && question && { message, question };
  return calls.length > 0 || prompt ? { calls, prompt } : undefined;
};

/** The ids of the items that wait. */
export const pendingItemIds = ({ calls, prompt }: PendingWork): ReadonlySet<string> => {
  const ids = new Set(calls.flatMap(({ question, call }) => [question.itemId, call.itemId]));
  if (prompt) ids.add(prompt.question.itemId).add(prompt.message.itemId);
  return ids;
};

/** What a turn was asked, from its user message; undefined where its agent no longer exists. */
export const requestOf = (
  turnId: string,
  { history, openItems }: ThreadState,
  agents: readonly AgentProfile[],
): TurnRequest | undefined => {
  const items = [...history, ...openItems.map(({ item }) => item)];
  const said = items.findLast((item) => item.turnId === turnId && item.type === "user_message");
  if (said?.type !== "user_message" || !said.data) return undefined;
  const { content: input, agent: name, model, compact } = said.data;
  const agent = agents.find((profile) => profile.name === name);
  return agent && { input, agent, model, compact };
};

const isSameJson = (one: unknown, other: unknown): boolean => {
  try {
    return canonicalJson(one) === canonicalJson(other);
  } catch {
    // A value without a canonical form was never asked about.
    return false;
  }
};

/** Whether an event of a log shows a question that waits as it was asked: who can write the log does not choose what a human sees. */
export const isAsAsked = (
  { type, data }: Event,
  questions: ReadonlyMap<string, Question> | undefined,
): boolean => {
  let shown: Pick<ItemData<"approval">, "requestId" | "metadata"> | undefined;
  if (type === "approval.requested") shown = data;
  else if ((type === "item.started" || type === "item.updated") && data.item.type === "approval")
    shown = data.item.data;
  const asked = shown && questions?.get(shown.requestId);
  return !asked || isSameJson(asked.metadata, shown?.metadata);
};

/** Whether clients were notified of the question as it stands, and its digest is the one that is computed. */
const isBound = async (
  { data: { metadata, requestId } }: PendingQuestion,
  state: ThreadState,
  computed: () => Promise<string>,
): Promise<boolean> => {
  const asked = state.requestedMetadata(requestId);
  if (asked !== undefined && !isSameJson(asked, metadata)) return false;
  try {
    return (await computed()) === metadata.digest;
  } catch {
    return false;
  }
};

/** Whether what is asked is what the call would do. */
const isCallIntact = async ({ question, call }: PendingCall, state: ThreadState): Promise<boolean> => {
  const { permission, metadata } = question.data;
  const shown = { tool: metadata.tool, input: metadata.input };
  return (
    permission === metadata.tool &&
    isSameJson(shown, { tool: call.data.tool, input: call.data.input }) &&
    (await isBound(question, state, () => digest(shown)))
  );
};

/** Whether what is asked is what the agent would be given. */
const isPromptIntact = async ({ question, message }: PendingPrompt, state: ThreadState): Promise<boolean> => {
  const { metadata } = question.data;
  const { text } = metadata.input;
  if (metadata.tool !== promptPermission || typeof text !== "string") return false;
  return isBound(question, state, () => promptDigest(text, message.data?.content ?? []));
};

/**
 * Whether what a log says of its pending questions fits together: the input that is shown is the one of the call, and the
 * digest that an answer binds is the digest of that input. A file that others can write does not choose what is approved.
 */
export const isPendingIntact = async (
  { calls, prompt }: PendingWork,
  state: ThreadState,
): Promise<boolean> => {
  const checks = calls.map((call) => isCallIntact(call, state));
  if (prompt) checks.push(isPromptIntact(prompt, state));
  return (await Promise.all(checks)).every(Boolean);
};

/** The question with what a client answered; undefined without such an answer, and for one that is not sealed: a log in a workspace may come from another person. */
const answeredQuestion = async (
  approval: Item | undefined,
  answerSeal: AnswerSeal | undefined,
): Promise<PendingQuestion | undefined> => {
  if (approval?.type !== "approval" || !approval.data) return undefined;
  const { itemId, data } = approval;
  const { decision, resolvedBy = "server", note } = data;
  if (!decision || !(await isSealed({ ...approval, data }, answerSeal))) return undefined;
  const reason = data.reason === "unattended" ? ("unattended" as const) : undefined;
  const answer = defined({ decision, resolvedBy, note, reason });
  return { itemId, data, askedAt: undefined, answer };
};

/** The calls of the open turn that were allowed and have not begun. What is no longer what was shown was not allowed. */
export const approvedCalls = async (
  state: ThreadState,
  answerSeal: AnswerSeal | undefined,
): Promise<readonly PendingCall[]> => {
  const { openItems, openApprovals, history } = state;
  const asked = new Set(openApprovals.map(({ data }) => data?.toolItemId));
  const found: PendingCall[] = [];
  for (const { item: call } of openItems) {
    if (call.type !== "tool_exec" || call.data?.status !== "pending" || asked.has(call.itemId)) continue;
    const approval = history.findLast(
      (item) => item.type === "approval" && item.data?.toolItemId === call.itemId,
    );
    const question = await answeredQuestion(approval, answerSeal);
    if (!question?.answer || !isAllowed(question.answer)) continue;
    const pending = { question, call: { ...call, data: call.data } };
    if (await isCallIntact(pending, state)) found.push(pending);
  }
  return found;
};

/** The prompt of the open turn that was answered and is still to be given to the agent, or withheld, if it is what was shown. */
export const answeredPrompt = async (
  state: ThreadState,
  answerSeal: AnswerSeal | undefined,
): Promise<PendingPrompt | undefined> => {
  const message = state.openItems.map(({ item }) => item).find((item) => item.type === "user_message");
  const approval = state.history.findLast(
    (item) =>
      item.type === "approval" &&
      item.turnId === message?.turnId &&
      item.data?.permission === promptPermission &&
      item.data.toolItemId === undefined,
  );
  const question = await answeredQuestion(approval, answerSeal);
  const prompt = message && question && { message, question };
  return prompt && (await isPromptIntact(prompt, state)) ? prompt : undefined;
};
