import { displayText } from "@harnesskit/wire";
import { APICallError, RetryError, UnsupportedFunctionalityError } from "ai";
import { TurnError } from "../errors.ts";

const byStatus = (status: number | undefined): TurnError | undefined => {
  if (status === 401 || status === 403) {
    return new TurnError("model_unauthorized", "The model's provider refused the credentials.");
  }
  if (status === 404)
    return new TurnError("model_not_found", "The model's provider does not know this model.");
  if (status === 429)
    return new TurnError("model_rate_limited", "The model's provider limits the rate. Try again later.");
  if (status === 413 || status === 400) {
    return new TurnError("model_refused", `The model's provider refused the request (HTTP ${status}).`);
  }
  return undefined;
};

/** Words a failure of the model: which kind, without the provider's text, which may hold anything. */
export const toModelFailure = (error: unknown): TurnError => {
  if (TurnError.isInstance(error)) return error;
  const cause = RetryError.isInstance(error) ? error.lastError : error;
  if (UnsupportedFunctionalityError.isInstance(cause)) {
    const what = displayText(cause.functionality, { maxLength: 200 });
    return new TurnError("model_input_unsupported", `The model does not take what it was given: ${what}.`, {
      cause: error,
    });
  }
  const known = APICallError.isInstance(cause) ? byStatus(cause.statusCode) : undefined;
  const { code, message } = known ?? {
    code: "model_unavailable",
    message: "The model could not be reached or failed.",
  };
  return new TurnError(code, message, { cause: error });
};
