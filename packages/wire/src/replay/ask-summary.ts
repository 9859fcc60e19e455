import { ModelFailure, type ModelFailureCode, toModelFailure } from "../model/model-failure.ts";
import { type OpenStream, type ReadStreamOptions, readStream } from "../model/read-answer.ts";
import type { ReplayMessage } from "./replayed-message.ts";
import { plainSummary, type SummaryRequest, summaryRequest, summaryText } from "./summary-text.ts";

/** Failures that another attempt would have again: then what was asked stands for the rest. */
const lasting: ReadonlySet<ModelFailureCode> = new Set(["refused", "no_answer", "input_unsupported"]);

/** Characters of a summary with the thoughts before it; each part counts one more. */
const maxAnswerLength = 1_000_000;

/**
 * Has a model make a summary of these messages, and gives it with what the AI SDK says of the request. Where the model makes none, the summary says
 * so. Rejects with a `ModelFailure` where it cannot be reached, so that nothing is lost, and with the signal's reason when cancelled.
 *
 * @param room characters that the model takes
 */
export const askForSummary = async <Part extends { readonly type: string; readonly text?: string }, Step>(
  open: (request: SummaryRequest) => OpenStream<Part, Step>,
  messages: readonly ReplayMessage[],
  room: number,
  options: ReadStreamOptions,
): Promise<{ readonly text: string; readonly step?: Step }> => {
  let text = "";
  let length = 0;
  try {
    const add = (part: Part & { readonly error?: unknown }) => {
      if (part.type === "error") throw toModelFailure(part.error);
      length += (part.text?.length ?? 0) + 1;
      if (length > maxAnswerLength) throw new ModelFailure("no_answer", "the model does not come to an end");
      if (part.type === "text-delta") text += part.text;
    };
    const step = await readStream(open(summaryRequest(messages, room)), add, options);
    return { text: summaryText(text, messages, room), step };
  } catch (error) {
    if (!ModelFailure.isInstance(error) || !lasting.has(error.code)) throw error;
    return { text: plainSummary(messages, error.message.replace(/\.$/, ""), room) };
  }
};
