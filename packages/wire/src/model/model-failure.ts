import { displayText } from "../display.ts";
import { HarnessError } from "../errors.ts";
import { withoutSecretShapes } from "../secret-shapes.ts";

/**
 * Why a model gave no answer: its provider refused the request or could not be reached, the stream broke off (`stream_broken`) or fell `silent`,
 * or what came is not an answer (`no_answer`), was withheld (`filtered`) or cut (`output_limit`).
 */
export type ModelFailureCode =
  | "unavailable"
  | "not_loaded"
  | "timed_out"
  | "rate_limited"
  | "unauthorized"
  | "quota_exceeded"
  | "not_found"
  | "refused"
  | "input_unsupported"
  | "no_answer"
  | "output_limit"
  | "filtered"
  | "stream_broken"
  | "silent";

/** The failure of a request to a model. Its message is safe to show, without secrets, and begins as the end of a sentence. */
export class ModelFailure extends HarnessError<ModelFailureCode> {
  static override readonly brand = "ModelFailure";
  /** How long the provider wants to be left alone, where it says so. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ModelFailureCode,
    message: string,
    { cause, retryAfterMs }: { readonly cause?: unknown; readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(code, message, cause === undefined ? undefined : { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

/** Characters of a provider's own words that are kept. */
const maxMessageLength = 500;
/** Characters of an answer that are looked at. */
const maxBodyLength = 65_536;

type Fields = { readonly [name: string]: unknown };

const fieldsOf = (value: unknown): Fields =>
  (typeof value === "object" && value !== null) || typeof value === "function" ? (value as Fields) : {};

const parseBody = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // A page of a proxy says less than its status.
    return /^\s*</.test(text) ? undefined : text;
  }
};

/** The sentence in what a provider sent: `{ error: { message } }`, `{ error: "…" }`, `{ detail: "…" }`, a list, a string. */
const sentenceIn = (value: unknown, depth = 0): string => {
  if (typeof value === "string") return value;
  if (depth > 3) return "";
  if (Array.isArray(value)) return sentenceIn(value[0], depth + 1);
  const { error, message, detail, msg } = fieldsOf(value);
  for (const part of [error, message, detail, msg]) {
    const sentence = sentenceIn(part, depth + 1).trim();
    if (sentence !== "") return sentence;
  }
  return "";
};

/** An error of a program says nothing that a provider said, and perhaps what is not for users. */
const isForeign = (error: unknown): boolean =>
  error instanceof Error && fieldsOf(error)[Symbol.for("vercel.ai.error") as never] !== true;

const systemCodeIn = (thrown: unknown): string | undefined => {
  let error = thrown;
  for (let depth = 0; depth < 5; depth++) {
    const { code, cause, errors } = fieldsOf(error);
    if (typeof code === "string" && /^(?:E[A-Z_]{3,}|UND_ERR_\w+|CERT_\w+)$/.test(code)) return code;
    error = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return undefined;
};

const withoutQuery = (text: unknown): string | undefined => {
  if (typeof text !== "string" || !URL.canParse(text)) return undefined;
  const { origin, pathname } = new URL(text);
  return displayText(withoutSecretShapes(`${origin}${pathname}`), { maxLength: 200 });
};

const outOfQuota =
  /insufficient_quota|insufficient (?:credit|balance|fund)|credit balance is too low|billing_(?:error|hard_limit)/i;

const statuses: Readonly<Record<number, ModelFailureCode>> = {
  401: "unauthorized",
  403: "unauthorized",
  404: "not_found",
  408: "timed_out",
  429: "rate_limited",
  504: "timed_out",
};

/** The types of error objects that providers send inside a stream, and the names of errors of the AI SDK. */
const named: Readonly<Record<string, ModelFailureCode>> = {
  authentication_error: "unauthorized",
  permission_error: "unauthorized",
  billing_error: "quota_exceeded",
  invalid_request_error: "refused",
  request_too_large: "refused",
  context_length_exceeded: "refused",
  not_found_error: "not_found",
  rate_limit_error: "rate_limited",
  rate_limit_exceeded: "rate_limited",
  timeout_error: "timed_out",
  AI_LoadAPIKeyError: "unauthorized",
  AI_LoadSettingError: "unauthorized",
  AI_NoSuchModelError: "not_found",
  AI_NoSuchProviderError: "not_found",
  AI_InvalidArgumentError: "refused",
  AI_InvalidMessageRoleError: "refused",
  AI_InvalidPromptError: "refused",
  AI_MessageConversionError: "refused",
  AI_MissingToolResultsError: "refused",
  AI_EmptyResponseBodyError: "no_answer",
  AI_InvalidResponseDataError: "no_answer",
  AI_InvalidStreamPartError: "no_answer",
  AI_JSONParseError: "no_answer",
  AI_NoContentGeneratedError: "no_answer",
  AI_NoOutputGeneratedError: "no_answer",
  AI_ToolChoiceViolationError: "no_answer",
  AI_TypeValidationError: "no_answer",
};

const codeOfStatus = (status: number, said: string): ModelFailureCode => {
  // A successful status with a body that cannot be read is reported in this way, too.
  if (status < 300) return "no_answer";
  if (status === 503 && /\bmodel\b.{0,80}\b(?:not loaded|loading)\b/i.test(said)) return "not_loaded";
  return statuses[status] ?? (status >= 400 && status < 500 ? "refused" : "unavailable");
};

const codeOf = (error: unknown, said: string, depth = 0): ModelFailureCode => {
  const { statusCode, name, type, code, functionality, error: inner } = fieldsOf(error);
  if (typeof statusCode === "number") return codeOfStatus(statusCode, said);
  if (name === "AI_UnsupportedFunctionalityError") {
    return /image|file|media|audio|video|url|part/i.test(String(functionality))
      ? "input_unsupported"
      : "refused";
  }
  const known = [name, type, code].find((each) => typeof each === "string" && Object.hasOwn(named, each));
  if (known !== undefined) return named[known as string] as ModelFailureCode;
  return inner === undefined || depth > 3 ? "unavailable" : codeOf(inner, said, depth + 1);
};

const provider = "the model's provider";

/** What happened, and what can be done about it. */
const texts: Readonly<Partial<Record<ModelFailureCode, readonly [what: string, advice?: string]>>> = {
  unavailable: ["the model could not be reached or failed"],
  not_loaded: ["the model is not loaded yet", "Try again later"],
  timed_out: ["the model did not answer in time"],
  rate_limited: [`${provider} limits the rate`, "Try again later"],
  unauthorized: [`${provider} refused the credentials`, "Check the key and what it may use"],
  quota_exceeded: [`${provider} says that the account has no quota left`, "Add credit, or use another model"],
  not_found: [`${provider} does not know this model or address`],
  refused: [`${provider} refused the request`],
  input_unsupported: ["the model does not take what it was given"],
  no_answer: ["the model gave an answer that cannot be used"],
};

/** What a provider says to wait: `retry-after-ms`, else `retry-after` in seconds. */
const retryAfterOf = (headers: Fields): number | undefined => {
  const { "retry-after-ms": ms, "retry-after": seconds } = headers;
  if (typeof ms === "string" && /^\d{1,12}$/.test(ms)) return Number(ms);
  return typeof seconds === "string" && /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
};

/**
 * Names what the AI SDK threw, or what a provider sent as an error within its stream, with the HTTP status, the endpoint without credentials, query
 * and fragment, and the provider's own words, bounded. Never throws.
 */
export const toModelFailure = (thrown: unknown): ModelFailure => {
  if (ModelFailure.isInstance(thrown)) return thrown;
  const { errors, lastError } = fieldsOf(thrown);
  const attempts = Array.isArray(errors) && lastError !== undefined ? errors.length : 1;
  const error = lastError ?? thrown;
  const { statusCode, url, responseBody, responseHeaders } = fieldsOf(error);
  const body = typeof responseBody === "string" ? responseBody.slice(0, maxBodyLength) : "";
  const said = sentenceIn(parseBody(body)) || (isForeign(error) ? "" : sentenceIn(error));
  const system = systemCodeIn(error);
  const text =
    system === undefined || said.includes(system) ? said : `${said.replace(/:?\s*$/, "")} (${system})`.trim();
  const oneLine = withoutSecretShapes(text.slice(0, maxBodyLength)).replace(/\s+/g, " ").trim();
  const isOutOfQuota = statusCode === 402 || outOfQuota.test(`${body}\n${said}`);
  const code = isOutOfQuota ? "quota_exceeded" : codeOf(error, said);
  const facts = [
    typeof statusCode === "number" ? `HTTP ${statusCode}` : undefined,
    withoutQuery(url),
    attempts > 1 ? `tried ${attempts} times` : undefined,
  ].filter((fact) => fact !== undefined);
  const [what, advice] = texts[code] ?? [""];
  const where = facts.length === 0 ? "" : ` (${facts.join(", ")})`;
  const words = oneLine === "" ? "" : `: ${displayText(oneLine, { maxLength: maxMessageLength })}`;
  const message = `${what}${where}${words}`;
  return new ModelFailure(code, advice ? `${message.replace(/[.\s]+$/, "")}. ${advice}` : message, {
    cause: thrown,
    retryAfterMs: retryAfterOf(fieldsOf(responseHeaders)),
  });
};
