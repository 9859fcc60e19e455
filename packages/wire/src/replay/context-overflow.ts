import { isObject } from "../json/json.ts";

/** How providers and local servers say that a request is longer than the model's context. */
const overflow =
  /context[ _-]?(?:length|window|size|limit)|maximum (?:context|model length|prompt length)|inputs`? tokens \+ .{0,40}must be|must have less than \d+ tokens|(?:prompt|input|request) (?:is )?too (?:long|large)|request_too_large|too many (?:input )?tokens|token count .{0,60}exceed|exceed_context|exceeds? .{0,60}(?:maximum|max).{0,20}tokens|reduce the length|too large for model/i;

/** Statuses that mean something else, also where the text speaks of tokens. */
const others = new Set<unknown>([401, 402, 403, 404, 429]);

/** Where a refusal says how many tokens the model takes. */
const limits: readonly RegExp[] = [
  /"n_ctx"\s*:\s*(\d+)/,
  /maximum (?:context|model|prompt) length (?:is|of) (\d+)/i,
  /(\d+) maximum(?: context length)?/i,
  /(?:context|model) (?:length|window|size|limit)(?: is| of)?[ (]+(\d+)/i,
  /maximum number of tokens allowed[ (]+(\d+)/i,
  /must (?:have less than|be (?:<=|at most)) (\d+)/i,
  /cannot exceed (\d+) tokens/i,
];

const maxDepth = 5;

type Failure = Readonly<Record<string, unknown>>;

/** What failed, and why: the error, what it wraps, and the objects that a provider's stream reports. */
const failuresIn = (error: unknown, depth = 0): readonly Failure[] => {
  if (typeof error === "string") return [{ message: error }];
  if (!isObject(error) || depth > maxDepth) return [];
  const inner = [error.cause, error.lastError, error.error, error.data];
  return [error, ...inner.flatMap((each) => failuresIn(each, depth + 1))];
};

/** True for a failure of a model's provider that says that the request is longer than the model's context. */
export const isContextOverflow = (error: unknown): boolean => {
  const failures = failuresIn(error);
  if (failures.some(({ statusCode }) => others.has(statusCode))) return false;
  return failures.flatMap(textsOf).some((text) => overflow.test(text));
};

const textsOf = ({ message, code, type, responseBody }: Failure): string[] =>
  [message, code, type, responseBody].filter((text) => typeof text === "string");

/** The tokens that a model takes, where the failure of {@link isContextOverflow} says so. */
export const statedWindow = (error: unknown): number | undefined => {
  for (const text of failuresIn(error).flatMap(textsOf)) {
    const plain = text.replace(/(\d)[,_](?=\d{3})/g, "$1");
    for (const limit of limits) {
      const tokens = Number(limit.exec(plain)?.[1]);
      if (tokens >= 256) return tokens;
    }
  }
  return undefined;
};
