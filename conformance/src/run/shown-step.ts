import type { LeafStep, Verb } from "../scenario/step-schema.ts";

export const shownValue = (value: unknown, maxLength: number): string => {
  const text = value === undefined ? "absent" : JSON.stringify(value);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
};

/** A list of messages by what they are: the reader looks for one that is missing, not for its members. */
export const shownMessages = (value: unknown): string | undefined => {
  if (!Array.isArray(value) || value.length < 2 || !value.every((each) => "jsonrpc" in Object(each)))
    return undefined;
  const kinds = (value as Record<string, unknown>[]).map(({ method, id, error, params }) => {
    const { type, status, item } = Object(params) as Record<string, { data?: { status?: unknown } }>;
    const parts = [method ?? `${error === undefined ? "the answer" : "the error"} ${String(id)}`, type];
    return [...parts, status ?? item?.data?.status].filter((part) => typeof part === "string").join(" ");
  });
  return `${kinds.length} messages: ${kinds.join(", ")}`;
};

/** What was sent, with what it asked of the test handler where both do not fit. */
export const shownSent = (text: string, maxLength: number): string => {
  const wish = text.indexOf('conformance":');
  if (text.length <= maxLength || wish < 0) return text.slice(0, maxLength);
  const start = text.slice(0, Math.min(wish, Math.floor(maxLength / 2)));
  return `${start} … ${text.slice(wish)}`.slice(0, maxLength);
};

/** The error of an answer, as one line. */
export const shownError = (answer: unknown): string | undefined => {
  const { error } = Object(answer) as {
    readonly error?: { readonly code?: unknown; readonly message?: unknown };
  };
  return error === undefined || error === null ? undefined : `error ${error.code}: ${error.message}`;
};

export const labelOf = (verb: Verb, step: LeafStep): string => {
  const subject: unknown = (step as unknown as Record<string, unknown>)[verb];
  return typeof subject === "string" ? `${verb} ${subject}` : verb;
};
