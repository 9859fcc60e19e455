import type { ItemData, ItemOf } from "@harnesskit/protocol/threads";
import type { AgentProfile } from "./agent-profile.ts";
import { promptPermission, type StandingQuestion, toStandingQuestion } from "./approval-flow.ts";
import type { ThreadState } from "./thread-state.ts";
import type { TurnRequest } from "./turn-runner.ts";

type OpenToolCall = ItemOf<"tool_exec"> & { data: ItemData<"tool_exec"> };

/** A call that waits for a human, with its question. */
export interface StandingCall {
  readonly question: StandingQuestion;
  readonly call: OpenToolCall;
}

/** The calls of a log that wait for a human, each with its question. */
export const standingCalls = ({ openItems, openApprovals }: ThreadState): StandingCall[] => {
  const calls = new Map<string, OpenToolCall>();
  for (const { item } of openItems) {
    if (item.type === "tool_exec" && item.data) calls.set(item.itemId, { ...item, data: item.data });
  }
  return openApprovals.flatMap((item) => {
    const question = toStandingQuestion(item);
    const call = question?.data.toolItemId === undefined ? undefined : calls.get(question.data.toolItemId);
    return question && call ? [{ question, call }] : [];
  });
};

/** A prompt that waits for a human, with its question. */
export interface StandingPrompt {
  readonly question: StandingQuestion;
  readonly message: ItemOf<"user_message">;
}

/** The prompt of a log that waits for a human. */
export const standingPrompt = ({ openItems, openApprovals }: ThreadState): StandingPrompt | undefined => {
  const message = openItems.map(({ item }) => item).find((item) => item.type === "user_message");
  const question = openApprovals
    .map(toStandingQuestion)
    .find((asked) => asked?.data.permission === promptPermission && asked.data.toolItemId === undefined);
  return message && question && { question, message };
};

/** What a turn was asked, from its user message; undefined where its agent is no more. */
export const requestOf = (
  turnId: string,
  { history, openItems }: ThreadState,
  agents: readonly AgentProfile[],
): TurnRequest | undefined => {
  const items = [...history, ...openItems.map(({ item }) => item)];
  const said = items.findLast((item) => item.turnId === turnId && item.type === "user_message");
  if (said?.type !== "user_message" || !said.data) return undefined;
  const { content: input, agent: name, model } = said.data;
  const agent = agents.find((profile) => profile.name === name);
  return agent && { input, agent, ...(model !== undefined && { model }) };
};

/** The model and agent of a turn, as its user message keeps them for a later server. */
export const asRequested = ({ agent, model }: TurnRequest) => ({
  agent: agent.name,
  ...(model !== undefined && { model }),
});
