import { jsonLength } from "../envelope/json-length.ts";
import { type AttachmentRef, AttachmentRefSchema } from "./context.ts";

/** Keys under which data travel elsewhere; in small letters, without `_` and `-`. */
const dataKeys = new Set([
  "data",
  "base64",
  "base64data",
  "b64",
  "b64json",
  "filedata",
  "inlinedata",
  "bytes",
  "content",
  "blob",
  "body",
  "raw",
]);

/** Longer than what a reference has to say; an address may be longer. */
const maxTextLength = 2048;
const maxUriLength = 8192;
/** About the characters of all of an attachment: many short pieces, keys and numbers are no reference either. */
const maxLength = 2 * maxUriLength;

/** The keys that attachments have: none of those. */
const referenceKeys = new Set(Object.keys(AttachmentRefSchema.shape));

const isDataKey = (key: string): boolean =>
  !referenceKeys.has(key) && dataKeys.has(key.toLowerCase().replace(/[_-]/g, ""));

/** Whether a text is a `data:` address, as one is read: without what is ignored before it and the breaks in it. */
const isDataUri = (key: string, text: string): boolean => {
  if (!text.includes(":")) return false;
  const bare = text.replace(/^[\p{Cc}\p{Cf}\s]+|[\t\n\r]/gu, "");
  if (!/^data:/i.test(bare)) return false;
  // A name or a title may begin with "Data: " too.
  return key === "uri" || /^data:(?:[^\s,]*,|[^,]*;\s*base64\s*,)/i.test(bare);
};

const isTooLong = (key: string, text: string): boolean => {
  if (text.length <= maxTextLength) return false;
  const isAddress = key === "uri" || /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  return !isAddress || text.length > maxUriLength;
};

const isDataText = (key: string, text: string): boolean => {
  if (isTooLong(key, text)) return true;
  return isDataKey(key) ? text !== "" : isDataUri(key, text);
};

const isData = (key: string, value: unknown): boolean => {
  if (typeof value === "string") return isDataText(key, value);
  if (typeof value !== "object" || value === null) return false;
  if (!Array.isArray(value)) {
    for (const inner of Object.keys(value)) {
      if (isData(inner, (value as Record<string, unknown>)[inner])) return true;
    }
    return false;
  }
  if (value.length > 0 && isDataKey(key) && value.every((entry) => typeof entry === "number")) return true;
  return value.some((entry) => isData(key, entry));
};

/**
 * The place of the first attachment that holds data rather than saying where they are: a `data:` address, a field that is
 * named for content, a text longer than a reference, or more in all than one has. Undefined where all are references.
 */
export const inlineAttachment = (attachments: readonly AttachmentRef[]): number | undefined => {
  const index = attachments.findIndex(
    (attachment) => jsonLength(attachment) > maxLength || isData("", attachment),
  );
  return index < 0 ? undefined : index;
};
