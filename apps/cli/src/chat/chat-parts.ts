import type { ReplyFacts, ReplyTexts } from "@harnesskit/chat-harness";
import { createModel, ModelError } from "@harnesskit/models";
import { unavailableError } from "../cli-error.ts";
import { io } from "../io.ts";
import { checkedModel, languageModelHint } from "../serve/models.ts";

/** How long a conversation stays taken when its process died, in milliseconds. */
export const leaseTtlMs = 10_000;
/** Longer than the longest that a core lets a tool run. */
export const toolTimeoutMs = 61 * 60_000;

const advice: Readonly<Record<string, string>> = {
  provider_invalid_response: " Try again, or use another model.",
  provider_invalid_model: " Use another model.",
  provider_rate_limit: "",
  provider_model_not_loaded: "",
};

const failureReply =
  (otherwise: string) =>
  ({ diagnostic, error_category: category = "" }: ReplyFacts): string => {
    const isModel = category.startsWith("provider_") && category !== "provider_invalid_request";
    return isModel
      ? `${diagnostic.charAt(0).toUpperCase()}${diagnostic.slice(1)}.${advice[category] ?? otherwise}`
      : "";
  };

/** Replies to a user who is the operator too: the reason of a model's failure, and what helps against it. */
export const operatorReplies: ReplyTexts = {
  retryable_transient: failureReply(" Try again in a moment."),
  user_correctable: failureReply(""),
};

/** The model of `--model`. Rejects with a usage error, or one that says `unavailable`. */
export const openModel = async (
  spec: string,
  option = "--model",
): Promise<Awaited<ReturnType<typeof createModel>>> => {
  try {
    return await createModel(checkedModel(spec, option), {
      env: io().env,
      languageModelHint: languageModelHint("chat", ""),
    });
  } catch (cause) {
    if (!ModelError.isInstance(cause)) throw cause;
    throw unavailableError(cause.code, cause.message, { cause });
  }
};
