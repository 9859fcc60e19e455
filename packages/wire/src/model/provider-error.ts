import { displayText } from "../display.ts";
import { withoutSecretShapes } from "../secret-shapes.ts";

/** What is known of a request to a model's provider that failed: safe to show, without secrets. */
export interface ProviderError {
  /** Of the HTTP answer. */
  readonly status: number | undefined;
  /** Without credentials, query and fragment. */
  readonly url: string | undefined;
  /** What the provider or the network said, on one line; may be empty. */
  readonly message: string;
  /** How often it was tried. */
  readonly attempts: number;
  /** The account has nothing left: to wait does not help. */
  readonly isOutOfQuota: boolean;
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

/** Reads what the AI SDK threw, or what a provider sent as an error within its stream. Never throws. */
export const readProviderError = (thrown: unknown): ProviderError => {
  const { errors, lastError } = fieldsOf(thrown);
  const attempts = Array.isArray(errors) && lastError !== undefined ? errors.length : 1;
  const error = lastError ?? thrown;
  const { statusCode, url, responseBody } = fieldsOf(error);
  const body = typeof responseBody === "string" ? responseBody.slice(0, maxBodyLength) : "";
  const said = sentenceIn(parseBody(body)) || (isForeign(error) ? "" : sentenceIn(error));
  const code = systemCodeIn(error);
  const text =
    code === undefined || said.includes(code) ? said : `${said.replace(/:?\s*$/, "")} (${code})`.trim();
  const oneLine = withoutSecretShapes(text.slice(0, maxBodyLength)).replace(/\s+/g, " ").trim();
  const status = typeof statusCode === "number" ? statusCode : undefined;
  return {
    status,
    url: withoutQuery(url),
    message: displayText(oneLine, { maxLength: maxMessageLength }),
    attempts,
    isOutOfQuota: status === 402 || outOfQuota.test(`${body}\n${said}`),
  };
};
