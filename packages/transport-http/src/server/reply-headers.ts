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

const problemOf = (name: string, value: unknown, count: number): string | undefined => {
  if (!namePattern.test(name)) return "a header of a reply has a name that is none";
  if (isReserved(name.toLowerCase())) return `the header ${name.toLowerCase()} is the server's own`;
  if (typeof value !== "string" || value.length > maxValueLength || !valuePattern.test(value)) {
    return `the header ${name} has a value of visible ASCII, of ${maxValueLength} characters at most`;
  }
  return count >= maxHeaders ? `a reply has ${maxHeaders} headers of its own at most` : undefined;
};

/**
 * The headers among these that an answer can have, by their names in small letters; undefined where there are none. What is
 * wrong with the others is told to `tell`, as `invalid_reply_header`: the message was handled, and its reply has to arrive.
 */
export const checkedReplyHeaders = (
  given: Readonly<Record<string, string>> | undefined,
  tell: (error: HarnessError) => void,
): Readonly<Record<string, string>> | undefined => {
  if (given === undefined) return undefined;
  const kept: Record<string, string> = {};
  let count = 0;
  for (const [name, value] of Object.entries(given)) {
    const problem = problemOf(name, value, count);
    if (problem !== undefined) tell(new HarnessError("invalid_reply_header", problem));
    else {
      kept[name.toLowerCase()] = value;
      count++;
    }
    if (count >= maxHeaders && problem !== undefined) break;
  }
  return count === 0 ? undefined : kept;
};
