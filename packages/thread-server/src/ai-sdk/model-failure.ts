import { displayText } from "@harnesskit/wire";
import { type ProviderError, readProviderError } from "@harnesskit/wire/model";
import { InvalidResponseDataError, RetryError, UnsupportedFunctionalityError } from "ai";
import { TurnError } from "../errors.ts";

type Kind = readonly [code: string, what: string, advice?: string];

const failures: Readonly<Record<number, Kind>> = {
  400: ["model_refused", "refused the request"],
  401: ["model_unauthorized", "refused the credentials", "Check the key."],
  403: ["model_unauthorized", "refused the credentials", "Check the key and what it may use."],
  404: ["model_not_found", "does not know this model or address"],
  413: ["model_refused", "refused the request"],
  422: ["model_refused", "refused the request"],
  429: ["model_rate_limited", "limits the rate", "Try again later."],
};

const outOfQuota: Kind = [
  "model_quota_exceeded",
  "says that the account has no quota left",
  "Add credit, or use another model.",
];

const failureKindOf = ({ status, isOutOfQuota }: ProviderError): Kind => {
  if (isOutOfQuota) return outOfQuota;
  const kind = status === undefined ? undefined : failures[status];
  return kind ?? ["model_unavailable", status === undefined ? "could not be reached or failed" : "failed"];
};

/** What is known of a failed request to a provider, in one sentence or two: the address, the status, and its own words. */
const describeProviderError = (error: ProviderError): { code: string; text: string } => {
  const { status, url, message, attempts } = error;
  const [code, what, advice] = failureKindOf(error);
  const facts = [status === undefined ? undefined : `HTTP ${status}`, url].filter(
    (fact) => fact !== undefined,
  );
  const where = facts.length === 0 ? "" : ` (${facts.join(", ")})`;
  const said = message === "" ? "" : `: ${message.replace(/[.\s]+$/, "")}`;
  const tried = attempts > 1 ? ` It was tried ${attempts} times.` : "";
  const subject = status === undefined ? "The model" : "The model's provider";
  return { code, text: `${subject} ${what}${where}${said}.${tried}${advice ? ` ${advice}` : ""}` };
};

/** Words a failure of the model: which kind, and what its provider said, without secrets. */
export const toModelFailure = (error: unknown): TurnError => {
  if (TurnError.isInstance(error)) return error;
  const cause = RetryError.isInstance(error) ? error.lastError : error;
  if (UnsupportedFunctionalityError.isInstance(cause)) {
    const what = displayText(cause.functionality, { maxLength: 200 });
    return new TurnError("model_input_unsupported", `The model does not take what it was given: ${what}.`, {
      cause: error,
    });
  }
  if (InvalidResponseDataError.isInstance(cause)) {
    const what = displayText(cause.message.replace(/[.\s]+$/, ""), { maxLength: 200 });
    return new TurnError("model_no_answer", `The model's answer cannot be read: ${what}.`, { cause: error });
  }
  const { code, text } = describeProviderError(readProviderError(error));
  return new TurnError(code, text, { cause: error });
};
