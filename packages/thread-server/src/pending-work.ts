import type { Event, Item, ItemData, ItemOf } from "@harnesskit/protocol/threads";
import { canonicalJson, digest } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import {
  isAllowed,
  isSealed,
  type PendingQuestion,
  promptPermission,
  shownPrompt,
} from "./approval-answer.ts";
import type { Question } from "./question.ts";
import type { ThreadState } from "./thread-state.ts";
import type { AnswerSeal } from "./thread-store.ts";
import type { AgentProfile, TurnRequest } from "./turn-runner.ts";

type Asked = "tool_exec" | "user_message";
type Known<T extends Asked> = T extends Asked ? ItemOf<T> & { readonly data: ItemData<T> } : never;

/** A call or a prompt that waits for a human, or was answered and nothing has followed from it. */
export interface Pending<T extends Asked = Asked> {
  readonly question: PendingQuestion;
  readonly item: Known<T>;
}

/** What waits for a human in a log. */
export interface PendingWork {
  readonly calls: readonly Pending<"tool_exec">[];
  readonly prompt: Pending<"user_message"> | undefined;
}

const isCall = (pending: Pending): pending is Pending<"tool_exec"> => pending.item.type === "tool_exec";

const isPrompt = (pending: Pending): pending is Pending<"user_message"> =>
  pending.item.type === "user_message";

/** Whether an approval is about this item, a call or the prompt of its turn. */
const isAbout = ({ permission, toolItemId }: ItemData<"approval">, item: Item): item is Pending["item"] => {
  if (item.data === undefined) return false;
  if (item.type === "tool_exec") return item.itemId === toolItemId;
  return item.type === "user_message" && toolItemId === undefined && permission === promptPermission;
};

/** The calls and the prompt of a log that wait for a human; undefined where nothing does. */
export const pendingWork = (state: ThreadState): PendingWork | undefined => {
  const { openItems, openApprovals } = state;
  const all = openApprovals.flatMap(({ itemId, data }): Pending[] => {
    const item = data && openItems.map((open) => open.item).find((each) => isAbout(data, each));
    return item ? [{ question: { itemId, data, askedAt: state.requestedAt(data.requestId) }, item }] : [];
  });
  return all.length === 0 ? undefined : { calls: all.filter(isCall), prompt: all.find(isPrompt) };
};

/** The ids of the items that wait. */
export const pendingItemIds = ({ calls, prompt }: PendingWork): ReadonlySet<string> =>
  new Set(
    [...calls, ...(prompt ? [prompt] : [])].flatMap(({ question, item }) => [question.itemId, item.itemId]),
  );

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

/**
 * Whether what a log says of a question fits together: what is shown is what would happen, and the digest that an answer binds is the
 * digest of that. A file that others can write does not choose what is approved.
 */
const isIntact = async ({ question, item }: Pending, state: ThreadState): Promise<boolean> => {
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

/** Whether all that waits is as it was asked. */
export const isPendingIntact = async (
  { calls, prompt }: PendingWork,
  state: ThreadState,
): Promise<boolean> => {
  const checks = [...calls, ...(prompt ? [prompt] : [])].map((pending) => isIntact(pending, state));
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

/** What was answered in the open turn and nothing has followed from. What is no longer what was shown was not answered. */
const answered = async (state: ThreadState, answerSeal: AnswerSeal | undefined): Promise<Pending[]> => {
  const { openItems, openApprovals, history } = state;
  const asked = new Set(openApprovals.map(({ data }) => data?.toolItemId));
  const found: Pending[] = [];
  for (const { item } of openItems) {
    if (item.type === "tool_exec" && (item.data?.status !== "pending" || asked.has(item.itemId))) continue;
    const approval = history.findLast(
      ({ type, turnId, data }) =>
        type === "approval" && turnId === item.turnId && data && isAbout(data, item),
    );
    const question = await answeredQuestion(approval, answerSeal);
    if (!question || !isAbout(question.data, item)) continue;
    const pending = { question, item };
    if (await isIntact(pending, state)) found.push(pending);
  }
  return found;
};

/** The calls of the open turn that were allowed and have not begun. */
export const approvedCalls = async (
  state: ThreadState,
  answerSeal: AnswerSeal | undefined,
): Promise<readonly Pending<"tool_exec">[]> =>
  (await answered(state, answerSeal))
    .filter(isCall)
    .filter(({ question }) => question.answer && isAllowed(question.answer));

/** The prompt of the open turn that was answered and is still to be given to the agent, or withheld. */
export const answeredPrompt = async (
  state: ThreadState,
  answerSeal: AnswerSeal | undefined,
): Promise<Pending<"user_message"> | undefined> => (await answered(state, answerSeal)).find(isPrompt);
