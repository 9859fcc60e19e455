import { HarnessError } from "@harnesskit/wire";
import { readProviderError } from "@harnesskit/wire/model";
import { AISDKError, APICallError, RetryError, UnsupportedFunctionalityError } from "ai";

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

const statuses: Readonly<Record<number, ChatModelErrorCode>> = {
  401: "provider_authentication",
  402: "provider_authentication",
  403: "provider_authentication",
  404: "provider_invalid_model",
  408: "provider_timeout",
  429: "provider_rate_limit",
  504: "provider_timeout",
};

const byStatus = (status: number, detail: string): ChatModelErrorCode => {
  if (status === 503 && /\bmodel\b.{0,80}\b(?:not loaded|loading)\b/i.test(detail)) {
    return "provider_model_not_loaded";
  }
  const isRefused = status >= 400 && status < 500;
  return statuses[status] ?? (isRefused ? "provider_invalid_request" : "provider_unavailable");
};

/** The types of error objects that providers send inside a stream. */
const streamed: Readonly<Record<string, ChatModelErrorCode>> = {
  authentication_error: "provider_authentication",
  permission_error: "provider_authentication",
  billing_error: "provider_authentication",
  invalid_request_error: "provider_invalid_request",
  request_too_large: "provider_invalid_request",
  context_length_exceeded: "provider_invalid_request",
  not_found_error: "provider_invalid_model",
  rate_limit_error: "provider_rate_limit",
  rate_limit_exceeded: "provider_rate_limit",
  timeout_error: "provider_timeout",
};

const ofStream = (error: unknown): ChatModelErrorCode | undefined => {
  if (typeof error !== "object" || error === null) return undefined;
  const { type, code, error: inner } = error as { type?: unknown; code?: unknown; error?: unknown };
  for (const name of [type, code]) {
    if (typeof name === "string" && Object.hasOwn(streamed, name)) return streamed[name];
  }
  return inner === error ? undefined : ofStream(inner);
};

/** The errors of the AI SDK, by their names. */
const named: Readonly<Record<string, ChatModelErrorCode>> = {
  AI_LoadAPIKeyError: "provider_authentication",
  AI_LoadSettingError: "provider_authentication",
  AI_NoSuchModelError: "provider_invalid_model",
  AI_NoSuchProviderError: "provider_invalid_model",
  AI_InvalidArgumentError: "provider_invalid_request",
  AI_InvalidMessageRoleError: "provider_invalid_request",
  AI_InvalidPromptError: "provider_invalid_request",
  AI_MessageConversionError: "provider_invalid_request",
  AI_MissingToolResultsError: "provider_invalid_request",
  AI_EmptyResponseBodyError: "provider_invalid_response",
  AI_InvalidResponseDataError: "provider_invalid_response",
  AI_InvalidStreamPartError: "provider_invalid_response",
  AI_JSONParseError: "provider_invalid_response",
  AI_NoContentGeneratedError: "provider_invalid_response",
  AI_NoOutputGeneratedError: "provider_invalid_response",
  AI_ToolChoiceViolationError: "provider_invalid_response",
  AI_TypeValidationError: "provider_invalid_response",
};

const errorCodeOf = (error: unknown): ChatModelErrorCode => {
  if (APICallError.isInstance(error) && error.statusCode !== undefined) {
    // A successful status with a body that cannot be read is reported in this way, too.
    if (error.statusCode < 300) return "provider_invalid_response";
    return byStatus(error.statusCode, error.message);
  }
  if (UnsupportedFunctionalityError.isInstance(error)) {
    return /image|file|media|audio|video|url|part/i.test(error.functionality)
      ? "provider_unsupported_content_block"
      : "provider_invalid_request";
  }
  const known = AISDKError.isInstance(error) ? named[error.name] : undefined;
  return known ?? ofStream(error) ?? "provider_unavailable";
};

const texts: Readonly<Record<ChatModelErrorCode, string>> = {
  provider_unavailable: "the model could not be reached or failed",
  provider_timeout: "the model did not answer in time",
  provider_rate_limit: "the model's provider limits the rate",
  provider_model_not_loaded: "the model is not loaded yet",
  provider_authentication: "the model's provider refused the credentials",
  provider_invalid_model: "the model's provider does not know this model or address",
  provider_invalid_request: "the model's provider refused the request",
  provider_invalid_response: "the model gave an answer that cannot be used",
  provider_unsupported_content_block: "the model cannot take a part of a message",
};

/** What a provider says to wait: `retry-after-ms`, else `retry-after` in seconds. */
const retryAfterOf = (error: unknown): number | undefined => {
  if (!APICallError.isInstance(error)) return undefined;
  const { "retry-after-ms": ms = "", "retry-after": seconds = "" } = error.responseHeaders ?? {};
  const given = /^\d{1,12}$/.test(ms)
    ? Number(ms)
    : /^\d{1,9}$/.test(seconds)
      ? Number(seconds) * 1000
      : Number.NaN;
  return Number.isNaN(given) ? undefined : given;
};

const outOfQuota =
  "the model's provider says that the account has no quota left: add credit, or use another model";

/**
 * Whatever a model or the AI SDK threw, by its category, with the endpoint, the HTTP status and the provider's own words, bounded and
 * without secrets.
 */
export const toModelError = (error: unknown): ChatModelError => {
  if (ChatModelError.isInstance(error)) return error;
  const cause = RetryError.isInstance(error) ? error.lastError : error;
  const { status, url, message, attempts, isOutOfQuota } = readProviderError(error);
  const code = isOutOfQuota ? "provider_authentication" : errorCodeOf(cause);
  const facts = [
    status === undefined ? undefined : `HTTP ${status}`,
    url,
    attempts > 1 ? `tried ${attempts} times` : undefined,
  ].filter((fact) => fact !== undefined);
  const where = facts.length === 0 ? "" : ` (${facts.join(", ")})`;
  const what = isOutOfQuota ? outOfQuota : texts[code];
  return new ChatModelError(code, `${what}${where}${message === "" ? "" : `: ${message}`}`, {
    cause: error,
    retryAfterMs: retryAfterOf(cause),
  });
};
