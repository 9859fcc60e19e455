import { HarnessError } from "@harnesskit/wire";

const namePattern = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** Visible ASCII, with spaces between: nothing that would end the header or be read differently by others. */
const valuePattern = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/**
 * The headers among these that can be sent, with lower-case names. Each of the others is reported as
 * `invalid_reply_header`: the message was handled, and its reply must be sent.
 */
export const sendableHeaders = (
  given: Readonly<Record<string, string>> | undefined,
  report: (error: HarnessError) => void,
): Readonly<Record<string, string>> => {
  const kept: Record<string, string> = {};
  for (const name in given) {
    const lower = name.toLowerCase();
    const value: unknown = given[name];
    if (namePattern.test(lower) && typeof value === "string" && valuePattern.test(value)) kept[lower] = value;
    else {
      report(new HarnessError("invalid_reply_header", "a reply's header must be a token and visible ASCII"));
    }
  }
  return kept;
};
