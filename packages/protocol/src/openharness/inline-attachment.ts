import type { AttachmentRef } from "./context.ts";

/** Keys under which data travel elsewhere. */
const dataKeys = new Set([
  "data",
  "base64",
  "base64_data",
  "b64_json",
  "bytes",
  "content",
  "blob",
  "body",
  "raw",
]);

/** Longer than what a reference has to say; an address may be longer. */
const maxTextLength = 2048;
const maxUriLength = 8192;

const isData = (key: string, value: unknown): boolean => {
  if (typeof value === "string") {
    if (/^\s*data:/i.test(value)) return true;
    if (dataKeys.has(key.toLowerCase())) return value !== "";
    return value.length > (key === "uri" ? maxUriLength : maxTextLength);
  }
  if (typeof value !== "object" || value === null) return false;
  if (dataKeys.has(key.toLowerCase()) && Array.isArray(value) && value.length > 0) {
    return value.every((entry) => typeof entry === "number");
  }
  return Object.entries(value).some(([inner, entry]) => isData(inner, entry));
};

/**
 * The place of the first attachment that holds data rather than saying where they are: a `data:` address, a field that is
 * named for content, or a text longer than a reference. Undefined where all are references.
 */
export const inlineAttachment = (attachments: readonly AttachmentRef[]): number | undefined => {
  const index = attachments.findIndex((attachment) => isData("", attachment));
  return index < 0 ? undefined : index;
};
