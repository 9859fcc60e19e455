import { displayText } from "@harnesskit/wire";
import { APICallError, RetryError, UnsupportedFunctionalityError } from "ai";
import { TurnError } from "../errors.ts";

const failures: Readonly<Record<number, readonly [code: string, text: string]>> = {
  400: ["model_refused", "refused the request (HTTP 400)."],
  401: ["model_unauthorized", "refused the credentials."],
  403: ["model_unauthorized", "refused the credentials."],
  404: ["model_not_found", "does not know this model."],
  413: ["model_refused", "refused the request (HTTP 413)."],
  429: ["model_rate_limited", "limits the rate. Try again later."],
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
  const known = APICallError.isInstance(cause) ? failures[cause.statusCode ?? 0] : undefined;
  if (known) return new TurnError(known[0], `The model's provider ${known[1]}`, { cause: error });
  return new TurnError("model_unavailable", "The model could not be reached or failed.", { cause: error });
};
