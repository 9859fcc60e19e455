import type { AttachmentRef } from "./context.ts";

/** So much of an attachment may look like data: digests, tokens, a tiny preview. In characters of its encoding. */
const maxInlineLength = 2048;
/** An address may be so long, with all that is signed in it. */
const maxUriLength = 8192;

/** Whether a string is a `data:` address, read without the characters that are ignored before it and its line breaks. */
const isDataUri = (key: string, text: string): boolean => {
  if (!text.includes(":")) return false;
  const bare = text.replace(/^[\p{Cc}\p{Cf}\s]+|[\t\n\r]/gu, "");
  if (!/^data:/i.test(bare)) return false;
  // A name or a title may begin with "Data: " too.
  return key === "uri" || /^data:(?:[^\s,]*,|[^,]*;\s*base64\s*,)/i.test(bare);
};

/** Characters of words that no language has: base64 or hex digits, in lines or in one piece. */
const encodedLength = (text: string): number => {
  if (text.length < 48) return 0;
  let length = 0;
  for (const [word] of text.matchAll(/[A-Za-z0-9+/_=-]{48,}/g)) length += word.length;
  return length;
};

/** A quarter of the characters of bytes as text are control characters. */
const bytesLength = (text: string): number => 4 * (text.match(/[^\P{Cc}\t\n\r]/gu)?.length ?? 0);

const textLength = (key: string, text: string): number => {
  if (isDataUri(key, text)) return text.length;
  const isAddress = text.length <= maxUriLength && (key === "uri" || /^[a-z][a-z0-9+.-]*:\/\//i.test(text));
  return isAddress ? 0 : encodedLength(text) + bytesLength(text);
};

/** How much of a value is data, in characters of its encoding; a number counts as one. */
const inlineLength = (key: string, value: unknown): number => {
  if (typeof value === "string") return textLength(key, value);
  if (typeof value === "number") return 1;
  if (typeof value !== "object" || value === null) return 0;
  let length = 0;
  if (Array.isArray(value)) {
    for (const entry of value) length += inlineLength(key, entry);
    return length;
  }
  for (const inner of Object.keys(value)) {
    length += encodedLength(inner) + inlineLength(inner, (value as Record<string, unknown>)[inner]);
  }
  return length;
};

/**
 * The place of the first attachment that holds large data rather than saying where they are (section 9.1): more than 2048 characters
 * of base64, hex digits, bytes, numbers or `data:` addresses in all its fields. Fields that are not known, and text in words of any length,
 * are not data. Undefined where all are references.
 */
export const inlineAttachment = (attachments: readonly AttachmentRef[]): number | undefined => {
  const index = attachments.findIndex((attachment) => inlineLength("", attachment) > maxInlineLength);
  return index < 0 ? undefined : index;
};
