import type { NodeContext } from "@harnesskit/graph";
import type { ModelMessage } from "ai";
import { openCallIds } from "./arrange-history.ts";
import { askModel } from "./ask-model.ts";
import { teller } from "./chat-events.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import type { ChatGraphFields, ChatState, ChatUpdate } from "./chat-state.ts";
import { toAssistantChatMessage } from "./from-model-messages.ts";
import { toModelError } from "./to-model-error.ts";
import { toModelMessages } from "./to-model-messages.ts";

const toPrompt = (messages: ChatState["messages"]): ModelMessage[] => {
  try {
    return toModelMessages(messages);
  } catch (error) {
    throw toModelError(error);
  }
};

/** Asks the model, and puts what it says behind the history. */
export const modelNode =
  (chat: ChatSettings) =>
  async (
    { messages, model_calls: before }: ChatState,
    context: NodeContext<ChatGraphFields>,
  ): Promise<ChatUpdate> => {
    const step = before + 1;
    const tell = teller(chat.onEvent, context, step);
    const answer = await askModel(chat, {
      messages: toPrompt(messages),
      allowsCalls: step < chat.maxSteps,
      usedIds: openCallIds(messages),
      signal: context.signal,
      tell,
    });
    const calls = answer.calls.map(({ call }) => call);
    for (const call of calls) tell({ type: "call", call });
    const message = toAssistantChatMessage(answer.blocks, calls);
    return {
      ...(message === undefined ? {} : { messages: [message] }),
      queue: answer.calls.map(({ call, problem }) => ({ id: call.id, problem })),
      model_calls: step,
      is_kept: false,
    };
  };
