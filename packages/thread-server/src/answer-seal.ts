import type { ItemData, ItemOf } from "@harnesskit/protocol/threads";
import { isAllowed } from "./approvals.ts";
import type { AnswerSeal } from "./thread-store.ts";

/** The item of a question with what it says. */
type Approval = ItemOf<"approval"> & { readonly data: ItemData<"approval"> };

/** What a seal binds: the whole answer, and whose it is. */
const boundIn = ({ threadId, turnId, itemId, data: { seal: _seal, ...answer } }: Approval) => ({
  ...{ threadId, turnId, itemId, answer },
});

/** The answer as it is recorded: one that allows is sealed, where the store has a seal. */
export const sealedAnswer = async (
  approval: Approval,
  answerSeal: AnswerSeal | undefined,
): Promise<ItemData<"approval">> => {
  const { data } = approval;
  if (!answerSeal || !isAllowed(data)) return data;
  return { ...data, seal: await answerSeal.seal(boundIn(approval)) };
};

/** True for a recorded answer that needs no seal, or has the one of a server of this user. */
export const isSealed = async (approval: Approval, answerSeal: AnswerSeal | undefined): Promise<boolean> =>
  !answerSeal || !isAllowed(approval.data) || answerSeal.holds(boundIn(approval), approval.data.seal);
