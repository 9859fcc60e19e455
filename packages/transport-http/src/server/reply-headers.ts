import { HarnessError } from "@harnesskit/wire";

/** How many headers a route adds to one answer, and how many characters a value has. */
const maxHeaders = 16;
const maxValueLength = 1024;

const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
/** Visible ASCII, with spaces between: what would end the header, or be read otherwise by others, is no value. */
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

/** What is wrong with a header, whose name is in small letters, beside those that are kept. */
const problemOf = (name: string, value: unknown, kept: readonly string[]): string | undefined => {
  if (!namePattern.test(name)) return "a header of a reply has a name that is none";
  if (isReserved(name)) return `the header ${name} is the server's own`;
  if (typeof value !== "string" || value.length > maxValueLength || !valuePattern.test(value)) {
    return `the header ${name} has a value of visible ASCII, of ${maxValueLength} characters at most`;
  }
  if (kept.length >= 2 * maxHeaders) return `a reply has ${maxHeaders} headers of its own at most`;
  const isTwice = kept.some((known, index) => index % 2 === 0 && known === name);
  return isTwice ? `the header ${name} is given twice` : undefined;
};

/**
 * The headers among these that an answer can have, names in small letters and values in turn; undefined where there are none. What is
 * wrong with the others is told to `tell`, as `invalid_reply_header`: the message was handled, and its reply has to arrive.
 */
export const checkedReplyHeaders = (
  given: Readonly<Record<string, string>> | undefined,
  tell: (error: HarnessError) => void,
): readonly string[] | undefined => {
  if (given === undefined) return undefined;
  const kept: string[] = [];
  for (const name of Object.keys(given)) {
    const value = given[name] ?? "";
    const lower = name.toLowerCase();
    const problem = problemOf(lower, value, kept);
    if (problem === undefined) kept.push(lower, value);
    else {
      tell(new HarnessError("invalid_reply_header", problem));
      if (kept.length >= 2 * maxHeaders) break;
    }
  }
  return kept.length === 0 ? undefined : kept;
};
