import { HarnessError } from "@harnesskit/wire";
import { type ModelFailureCode, toModelFailure } from "@harnesskit/wire/model";

/** What kind of failure of a model it is, as the categories of errors name them (section "Error categories"). */
export type ChatModelErrorCode =
  | "provider_unavailable"
  | "provider_timeout"
  | "provider_rate_limit"
  | "provider_model_not_loaded"
  | "provider_authentication"
  | "provider_invalid_model"
  | "provider_invalid_request"
  | "provider_invalid_response"
  | "provider_unsupported_content_block";

/** A model could not be asked, or did not answer. `category` is the code, by which a harness finds the bucket. */
export class ChatModelError extends HarnessError<ChatModelErrorCode> {
  static override readonly brand = "ChatModelError";
  readonly category: ChatModelErrorCode;
  /** How long the provider wants to be left alone, where it says so. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ChatModelErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(code, message, "cause" in options ? { cause: options.cause } : undefined);
    this.category = code;
    this.retryAfterMs = options.retryAfterMs;
  }
}

const categories: Readonly<Record<ModelFailureCode, ChatModelErrorCode>> = {
  unavailable: "provider_unavailable",
  stream_broken: "provider_unavailable",
  not_loaded: "provider_model_not_loaded",
  timed_out: "provider_timeout",
  silent: "provider_timeout",
  rate_limited: "provider_rate_limit",
  unauthorized: "provider_authentication",
  quota_exceeded: "provider_authentication",
  not_found: "provider_invalid_model",
  refused: "provider_invalid_request",
  filtered: "provider_invalid_request",
  input_unsupported: "provider_unsupported_content_block",
  no_answer: "provider_invalid_response",
  output_limit: "provider_invalid_response",
};

/** Whatever a model or the AI SDK threw, by its category: a `ModelFailure` of the specification's words. */
export const toModelError = (error: unknown): ChatModelError => {
  if (ChatModelError.isInstance(error)) return error;
  const { code, message, cause, retryAfterMs } = toModelFailure(error);
  return new ChatModelError(categories[code], message, { cause: cause ?? error, retryAfterMs });
};
