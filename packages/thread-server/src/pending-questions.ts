import type { ApprovalMetadata, Event, ItemData, ItemOf } from "@harnesskit/protocol/threads";
import { canonicalJson, digest } from "@harnesskit/wire";
import type { AgentProfile } from "./agent-profile.ts";
import { type PendingQuestion, promptPermission } from "./approval-flow.ts";
import { promptDigest } from "./prompt-digest.ts";
import type { ThreadState } from "./thread-state.ts";
import type { TurnRequest } from "./turn-runner.ts";

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
    data
      ? [
          {
            itemId,
            data,
            wasRequested: state.wasRequested(data.requestId),
            askedAt: state.requestedAt(data.requestId),
          },
        ]
      : [],
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
export const isCallIntact = async ({ question, call }: PendingCall, state: ThreadState): Promise<boolean> => {
  const { permission, metadata } = question.data;
  const shown = { tool: metadata.tool, input: metadata.input };
  return (
    permission === metadata.tool &&
    isSameJson(shown, { tool: call.data.tool, input: call.data.input }) &&
    (await isBound(question, state, () => digest(shown)))
  );
};

/** Whether what is asked is what the agent would be given. */
export const isPromptIntact = async (
  { question, message }: PendingPrompt,
  state: ThreadState,
): Promise<boolean> => {
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

/** Whether an event as it was read says of a pending question what this server asked. */
export const isAsAsked = (
  event: Event,
  pending: (requestId: string) => ApprovalMetadata | undefined,
): boolean => {
  let read: Pick<ItemData<"approval">, "requestId" | "metadata"> | undefined;
  if (event.type === "approval.requested") read = event.data;
  else if (event.type === "item.started" || event.type === "item.updated") {
    const { item } = event.data;
    if (item.type === "approval") read = item.data;
  }
  const asked = read && pending(read.requestId);
  return !asked || isSameJson(asked, read?.metadata);
};
