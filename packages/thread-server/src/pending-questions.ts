import type { Event, Item, ItemData, ItemOf } from "@harnesskit/protocol/threads";
import { canonicalJson, digest } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import {
  type Approval,
  isAllowed,
  isSealed,
  promptPermission,
  type QuestionItem,
  shownPrompt,
} from "./approval-answer.ts";
import type { Question } from "./question.ts";
import type { ThreadState } from "./thread-state.ts";
import type { AnswerSeal } from "./thread-store.ts";

type Asked = "tool_exec" | "user_message";
type Known<T extends Asked> = T extends Asked ? ItemOf<T> & { readonly data: ItemData<T> } : never;

/** A call or a prompt with the question about it. */
export interface Pending<T extends Asked = Asked> {
  readonly question: QuestionItem;
  readonly item: Known<T>;
}

const canBeAsked = (item: Item): item is Known<Asked> =>
  item.data !== undefined && (item.type === "tool_exec" || item.type === "user_message");

export const isCall = (pending: Pending): pending is Pending<"tool_exec"> =>
  pending.item.type === "tool_exec";

export const isPrompt = (pending: Pending): pending is Pending<"user_message"> =>
  pending.item.type === "user_message";

/** True where nothing was answered yet, or what was allowed has not begun. */
export const isOpen = ({ question: { answer } }: Pending): boolean =>
  answer === undefined || isAllowed(answer);

/** The question about a call or a prompt without its end: one that waits, or else the last one, if its answer counts. */
const questionAbout = async (
  item: Known<Asked>,
  state: ThreadState,
  answerSeal: AnswerSeal | undefined,
): Promise<QuestionItem | undefined> => {
  const isIts = (each: Item): each is Approval => {
    if (each.type !== "approval" || each.turnId !== item.turnId || !each.data) return false;
    const { permission, toolItemId } = each.data;
    if (item.type === "tool_exec") return item.itemId === toolItemId;
    return toolItemId === undefined && permission === promptPermission;
  };
  const waiting = state.openApprovals.find(isIts);
  if (waiting) {
    const { itemId, data } = waiting;
    return { itemId, data, askedAt: state.requestedAt(data.requestId) };
  }
  const answered = state.history.findLast(isIts);
  if (!answered || (item.type === "tool_exec" && item.data.status !== "pending")) return undefined;
  const { itemId, data } = answered;
  const { decision, resolvedBy = "server", note } = data;
  // A log in a workspace may come from another person.
  if (!decision || !(await isSealed(answered, answerSeal))) return undefined;
  const reason = data.reason === "unattended" ? ("unattended" as const) : undefined;
  return { itemId, data, askedAt: undefined, answer: defined({ decision, resolvedBy, note, reason }) };
};

/**
 * The calls and the prompt of the open turn that wait for a human, in their order, and those that were answered and nothing has followed
 * from. An answer to what is no longer what was shown is left out.
 */
export const readPending = async (
  state: ThreadState,
  answerSeal: AnswerSeal | undefined,
): Promise<readonly Pending[]> => {
  const found: Pending[] = [];
  for (const { item } of state.openItems) {
    const question = canBeAsked(item) ? await questionAbout(item, state, answerSeal) : undefined;
    if (!question || !canBeAsked(item)) continue;
    const pending = { question, item };
    if (!question.answer || (await isIntact(pending, state))) found.push(pending);
  }
  return found;
};

/**
 * Whether what a log says of a question fits together: what is shown is what would happen, and the digest that an answer binds is the
 * digest of that. A file that others can write does not choose what is approved.
 */
export const isIntact = async ({ question, item }: Pending, state: ThreadState): Promise<boolean> => {
  const { permission, metadata, requestId } = question.data;
  const { tool, input } = metadata;
  const asked = state.requestedMetadata(requestId);
  const happens =
    item.type === "tool_exec"
      ? { tool: item.data.tool, input: item.data.input }
      : { tool: promptPermission, input: shownPrompt(String(input.text), item.data.content) };
  if (permission !== tool || (asked && !isSameJson(asked, metadata))) return false;
  return isSameJson({ tool, input }, happens) && (await digest(happens)) === metadata.digest;
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

const isSameJson = (one: unknown, other: unknown): boolean => {
  try {
    return canonicalJson(one) === canonicalJson(other);
  } catch {
    // A value without a canonical form was never asked about.
    return false;
  }
};
