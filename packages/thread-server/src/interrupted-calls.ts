import type { ItemData } from "@harnesskit/protocol/threads";
import type { Tool } from "@harnesskit/wire/tool";
import { approvedCalls } from "./answered-questions.ts";
import { answersIn, closeOpenItems, serverStopped } from "./close-open-items.ts";
import type { PendingCall } from "./pending-questions.ts";
import type { Turn } from "./turn.ts";

/** A call that was made and has no recorded end. */
export interface InterruptedCall {
  readonly itemId: string;
  readonly data: ItemData<"tool_exec">;
  /** With its question, where a human allowed it. */
  readonly approved?: PendingCall | undefined;
}

/** True for a tool that may run again with the same input. */
const isRepeatable = (tool: Tool | undefined): boolean =>
  tool?.effects === "read" || tool?.idempotent === true;

/**
 * Closes the calls that an earlier server left open: one that may have run ends as `unknown`. Gives those that may run again, because
 * they have not begun, or because their tool only reads or is `idempotent`; they stay open.
 */
export const closeInterruptedCalls = async (
  { session, turnId }: Turn,
  tools: readonly Tool[],
): Promise<readonly InterruptedCall[]> => {
  const { openItems, history } = session.state;
  const approved = await approvedCalls(session.state, session.settings.store.answerSeal);
  const answers = answersIn(history);
  const open = openItems.filter(({ item }) => item.turnId === turnId && item.type === "tool_exec");
  const repeatable: InterruptedCall[] = [];
  const rest = open.filter(({ item }) => {
    if (item.type !== "tool_exec" || !item.data) return true;
    const { itemId, data } = item;
    if (answers.get(itemId) === "reject") return true;
    if (data.status !== "pending" && !isRepeatable(tools.find(({ name }) => name === data.tool))) return true;
    repeatable.push({ itemId, data, approved: approved.find(({ call }) => call.itemId === itemId) });
    return false;
  });
  await Promise.all(
    closeOpenItems(rest, serverStopped, "interrupted", history).map((body) => session.log.append(body)),
  );
  return repeatable;
};
