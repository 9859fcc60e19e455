import type { Item } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import { isSealed } from "./answer-seal.ts";
import { type PendingQuestion, promptPermission } from "./approval-flow.ts";
import { isAllowed } from "./approvals.ts";
import { isCallIntact, isPromptIntact, type PendingCall, type PendingPrompt } from "./pending-questions.ts";
import type { ThreadState } from "./thread-state.ts";
import type { AnswerSeal } from "./thread-store.ts";

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
  return { itemId, data, wasRequested: true, askedAt: undefined, answer };
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
