import type { ItemData, ItemOf } from "@harnesskit/protocol/threads";
import { isAllowed } from "./approvals.ts";
import { isCallIntact, type PendingCall } from "./pending-questions.ts";
import type { ThreadState } from "./thread-state.ts";
import type { AnswerSeal } from "./thread-store.ts";

type Approval = ItemOf<"approval"> & { readonly data: ItemData<"approval"> };

/** What a seal binds: the whole answer, and whose it is. */
const boundIn = ({ threadId, turnId, itemId, data: { seal: _seal, ...answer } }: Approval) => ({
  ...{ threadId, turnId, itemId, answer },
});

/** The answer as it is recorded: that a call was allowed is sealed, where the store has a seal. */
export const sealedAnswer = async (
  approval: Approval,
  answerSeal: AnswerSeal | undefined,
): Promise<ItemData<"approval">> => {
  const { data } = approval;
  if (!answerSeal || !isAllowed(data) || data.toolItemId === undefined) return data;
  return { ...data, seal: await answerSeal.seal(boundIn(approval)) };
};

/**
 * The calls of the open turn that were allowed and have not begun. What is not sealed, or is no longer what was shown, was not
 * allowed: a log in a workspace may come from another person.
 */
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
    if (approval?.type !== "approval" || !approval.data) continue;
    const { itemId, data } = approval;
    const { decision, resolvedBy = "server" } = data;
    if (decision !== "once" && decision !== "always") continue;
    const answer = { decision, resolvedBy };
    const question = { itemId, data, wasRequested: true, askedAt: undefined, answer };
    const pending = { question, call: { ...call, data: call.data } };
    const isSealed = !answerSeal || (await answerSeal.holds(boundIn({ ...approval, data }), data.seal));
    if (isSealed && (await isCallIntact(pending, state))) found.push(pending);
  }
  return found;
};
