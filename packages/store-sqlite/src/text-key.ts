import { InvalidArgumentError } from "@harnesskit/wire";

/** Text that SQLite gives back as it got it: none that ends early at a NUL, and none that is not UTF-8. */
const needsQuotes = /^"|\0|\p{Surrogate}/u;

/**
 * Any text as one that can be a key, different ones for different texts. Most stay as they are; others become JSON. Throws
 * `invalid_argument` for what is no text.
 */
export const toKey = (text: string): string => {
  if (typeof text !== "string")
    throw new InvalidArgumentError(`an id must be a text, not of type ${typeof text}`);
  return needsQuotes.test(text) ? JSON.stringify(text) : text;
};

/** The text that a key stands for. */
export const fromKey = (key: string): string => (key.startsWith('"') ? (JSON.parse(key) as string) : key);
