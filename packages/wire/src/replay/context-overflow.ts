import { isObject } from "../json/json.ts";

/** How providers and local servers say that a request is longer than the model's context. */
const overflow =
  /context[ _-]?(?:length|window|size|limit)|maximum context|(?:prompt|input|request) (?:is )?too (?:long|large)|request_too_large|too many (?:input )?tokens|token count .{0,60}exceed|exceed_context|exceeds? .{0,60}(?:maximum|max).{0,20}tokens|reduce the length|too large for model/i;

/** Statuses that mean something else, also where the text speaks of tokens. */
const others = new Set<unknown>([401, 402, 403, 404, 429]);

const maxDepth = 5;

/** True for a failure of a model's provider that says that the request is longer than the model's context. */
export const isContextOverflow = (error: unknown, depth = 0): boolean => {
  if (typeof error === "string") return overflow.test(error);
  if (typeof error !== "object" || error === null || depth > maxDepth) return false;
  const { statusCode, message, code, type, responseBody, ...rest } = error as Record<string, unknown>;
  if (others.has(statusCode)) return false;
  const said = [message ?? (error as Partial<Error>).message, code, type, responseBody];
  if (said.some((text) => typeof text === "string" && overflow.test(text))) return true;
  const inner = [(error as Partial<Error>).cause, rest.lastError, rest.error, rest.data];
  return inner.some(
    (each) => (isObject(each) || typeof each === "string") && isContextOverflow(each, depth + 1),
  );
};
