import { HarnessError } from "@harnesskit/wire";

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
export class ChatModelError extends HarnessError {
  override readonly name = "ChatModelError";
  declare readonly code: ChatModelErrorCode;
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

  static override isInstance(value: unknown): value is ChatModelError {
    return HarnessError.isInstance(value) && value.name === "ChatModelError";
  }
}
