import { isObject } from "../json/json.ts";

/** How providers and local servers say that a request is longer than the model's context. */
const overflow =
  /context[ _-]?(?:length|window|size|limit)|maximum (?:context|model length)|inputs`? tokens \+ .{0,40}must be|must have less than \d+ tokens|(?:prompt|input|request) (?:is )?too (?:long|large)|request_too_large|too many (?:input )?tokens|token count .{0,60}exceed|exceed_context|exceeds? .{0,60}(?:maximum|max).{0,20}tokens|reduce the length|too large for model/i;

/** Statuses that mean something else, also where the text speaks of tokens. */
const others = new Set<unknown>([401, 402, 403, 404, 429]);

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
  return failures.some(({ message, code, type, responseBody }) =>
    [message, code, type, responseBody].some((text) => typeof text === "string" && overflow.test(text)),
  );
};
