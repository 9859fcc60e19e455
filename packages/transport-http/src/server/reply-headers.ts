import { HarnessError } from "@harnesskit/wire";

/** How many headers a route adds to one answer, and how many characters a value has. */
const maxHeaders = 16;
const maxValueLength = 1024;

const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
/** Visible ASCII, with spaces between: nothing that would end the header or be read differently by others. */
const valuePattern = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** What the server says itself, what belongs to one connection, and what opens a door. */
const reserved = new Set([
  "cache-control",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "location",
  "proxy-authenticate",
  "proxy-connection",
  "set-cookie",
  "strict-transport-security",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "vary",
  "www-authenticate",
  "x-content-type-options",
]);

const isReserved = (name: string): boolean => reserved.has(name) || name.startsWith("access-control-");

const headerProblem = (
  name: string,
  value: unknown,
  kept: Readonly<Record<string, string>>,
): string | undefined => {
  if (!namePattern.test(name)) return "a header of a reply has an invalid name";
  if (isReserved(name)) return `the header ${name} is set by the server`;
  if (typeof value !== "string" || value.length > maxValueLength || !valuePattern.test(value)) {
    return `the value of the header ${name} must be visible ASCII of at most ${maxValueLength} characters`;
  }
  if (Object.keys(kept).length >= maxHeaders) return `a reply has at most ${maxHeaders} headers of its own`;
  return Object.hasOwn(kept, name) ? `the header ${name} is set twice` : undefined;
};

/**
 * The headers among these that an answer can have, with lower-case names. The problem with each of the others is
 * reported as `invalid_reply_header`: the message was handled, and its reply must be sent.
 */
export const checkedReplyHeaders = (
  given: Readonly<Record<string, string>> | undefined,
  report: (error: HarnessError) => void,
): Readonly<Record<string, string>> => {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(given ?? {})) {
    const lower = name.toLowerCase();
    const problem = headerProblem(lower, value, kept);
    if (problem === undefined) kept[lower] = value;
    else {
      report(new HarnessError("invalid_reply_header", problem));
      if (Object.keys(kept).length >= maxHeaders) break;
    }
  }
  return kept;
};
