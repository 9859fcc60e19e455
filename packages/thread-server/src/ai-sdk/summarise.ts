import type { Summary, Usage } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import { plainSummary, summaryCounts, summaryRequest, summaryText } from "@harnesskit/wire/replay";
import type { TurnContext } from "../turn-runner.ts";
import { streamModel } from "./broken-stream.ts";
import { toModelFailure } from "./model-failure.ts";
import { modelUsage, type StepOptions } from "./stream-step.ts";
import type { TurnConversation } from "./turn-conversation.ts";

/** `room`: characters that the model takes. */
type SummariseOptions = Pick<StepOptions, "model" | "maxRetries" | "idleTimeoutMs" | "clock"> & {
  readonly room: number;
};

/** Failures that another attempt would have again: then what was asked stands for the rest. Any other one ends the turn, and nothing is lost. */
const lasting: ReadonlySet<string> = new Set(["model_refused", "model_no_answer", "model_input_unsupported"]);

/**
 * Has the model make a summary of the messages before `cut`, records it, and puts it in their place. Where the model makes none, the summary says so. Throws a
 * `TurnError` where the model cannot be reached, the signal's reason when cancelled.
 */
export const summarise = async (
  turn: TurnContext,
  conversation: TurnConversation,
  cut: number,
  options: SummariseOptions,
): Promise<void> => {
  const { messages, end } = conversation.before(cut);
  const counts = summaryCounts(messages.slice(conversation.summarised), conversation.summary);
  const { text, usage } = await askForSummary(turn, messages, options);
  if (usage) turn.addUsage(usage);
  const summary: Summary = defined({ ...end, ...counts, usage });
  await turn.recordSummary(text, summary);
  conversation.replace(cut, text, summary);
};

const askForSummary = async (
  turn: TurnContext,
  messages: ReturnType<TurnConversation["before"]>["messages"],
  { model, room, maxRetries, idleTimeoutMs, clock }: SummariseOptions,
): Promise<{ readonly text: string; readonly usage?: Usage | undefined }> => {
  let text = "";
  let usage: Usage | undefined;
  try {
    const request = { model, ...summaryRequest(messages, room), maxRetries };
    const step = await streamModel(turn, request, { idleTimeoutMs, clock }, (part) => {
      if (part.type === "text-delta") text += part.text;
    });
    usage = modelUsage(step.usage, step.response);
  } catch (error) {
    turn.signal.throwIfAborted();
    const failure = toModelFailure(error);
    if (!lasting.has(failure.code)) throw failure;
    return { text: plainSummary(messages, failure.message.replace(/\.$/, ""), room), usage };
  }
  return { text: summaryText(text, messages, room), usage };
};
