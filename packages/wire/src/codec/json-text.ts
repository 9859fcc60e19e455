import { FrameTooLargeError, InvalidArgumentError, InvalidMessageError } from "../errors.ts";
import { defaultWireLimits } from "../limits.ts";

/** Whether a text has so many of a bracket that it may nest deeper than `maxDepth` by them. */
const hasMany = (text: string, bracket: string, maxDepth: number): boolean => {
  let found = 0;
  for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
    if (++found > maxDepth) return true;
  }
  return false;
};

/** False where a text cannot nest deeper than `maxDepth`, which a look at its brackets tells of nearly all. */
const mayExceedDepth = (text: string, maxDepth: number): boolean =>
  text.length > 2 * maxDepth && (hasMany(text, "{", maxDepth >> 1) || hasMany(text, "[", maxDepth >> 1));

/** True when arrays and objects nest deeper than `maxDepth`. Its own recursion is bounded by `maxDepth`. */
const exceedsDepth = (value: unknown, maxDepth: number): boolean => {
  if (typeof value !== "object" || value === null) return false;
  if (maxDepth === 0) return true;
  if (Array.isArray(value)) {
    for (const entry of value) if (exceedsDepth(entry, maxDepth - 1)) return true;
    return false;
  }
  for (const key in value)
    if (exceedsDepth((value as Record<string, unknown>)[key], maxDepth - 1)) return true;
  return false;
};

/** Texts up to this length are parsed before their depth is looked at: they cannot cost much. */
const maxUncheckedLength = 64 * 1024;
const quote = 0x22;
const backslash = 0x5c;

/** Where the string ends that begins at `start`; the text's end for one that does not. */
const endOfString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
};

/** The same before parsing, because building what nests millions of levels deep takes seconds. */
const textExceedsDepth = (text: string, maxDepth: number): boolean => {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === quote) index = endOfString(text, index);
    else if (unit === 0x5b || unit === 0x7b) {
      if (++depth > maxDepth) return true;
    } else if (unit === 0x5d || unit === 0x7d) depth--;
  }
  return false;
};

/**
 * Parses one message. Returns the value, or an `invalid_message` error in its place. Each level of nesting takes a
 * bracket, so that a text with few of them need not be looked at.
 */
export const parseMessage = (text: string, maxDepth: number): unknown => {
  const tooDeep = () => new InvalidMessageError("too_deep", `a message nests deeper than ${maxDepth} levels`);
  if (text.length > maxUncheckedLength && textExceedsDepth(text, maxDepth)) return tooDeep();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return new InvalidMessageError("not_json", "a message is not JSON", { cause });
  }
  if (text.length <= maxUncheckedLength && mayExceedDepth(text, maxDepth) && exceedsDepth(value, maxDepth)) {
    return tooDeep();
  }
  return value;
};

const jsonText = Symbol.for("harnesskit.json_text");

/**
 * Leaves a message's JSON text with it, for the codecs to take when they send it: for whoever has it at hand. It has to be what
 * `JSON.stringify` would make of the message, which is not to be changed any more. A copy of the message does not have it.
 */
export const withJsonText = <T extends object>(message: T, text: string): T =>
  Object.defineProperty(message, jsonText, { value: text });

const textOf = (message: unknown): string | undefined => {
  if (typeof message !== "object" || message === null) return JSON.stringify(message) as string | undefined;
  const text = (message as { readonly [jsonText]?: unknown })[jsonText];
  return typeof text === "string" ? text : JSON.stringify(message);
};

/** Writes one message as JSON. Throws `invalid_argument` for what has no JSON, and for what the other side would find too deep. */
export const stringifyMessage = (message: unknown, maxDepth: number = defaultWireLimits.maxDepth): string => {
  let text: string | undefined;
  try {
    text = textOf(message);
  } catch (cause) {
    throw new InvalidArgumentError("the message has no JSON form", { cause });
  }
  if (text === undefined) throw new InvalidArgumentError("the message has no JSON form");
  // An object may have another JSON than what it holds: where that seems too deep, the text tells.
  if (mayExceedDepth(text, maxDepth) && exceedsDepth(message, maxDepth) && textExceedsDepth(text, maxDepth)) {
    throw new InvalidArgumentError(`the message nests deeper than ${maxDepth} levels`);
  }
  return text;
};

/** How many bytes the text has in UTF-8. */
const utf8Length = (text: string): number => {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7ff) bytes += 2;
    else if (unit > 0x7f) bytes += 1;
    // A pair is four bytes, which its first half has brought to; JSON.stringify leaves no half alone.
    if (unit >= 0xd800 && unit <= 0xdbff) index++;
  }
  return bytes;
};

/** Throws `frame_too_large` when the text is over the limit. Counts only where the length alone does not tell. */
export const checkFrameSize = (text: string, maxFrameBytes: number): void => {
  if (text.length * 3 <= maxFrameBytes) return;
  if (text.length > maxFrameBytes || utf8Length(text) > maxFrameBytes)
    throw new FrameTooLargeError(maxFrameBytes);
};
