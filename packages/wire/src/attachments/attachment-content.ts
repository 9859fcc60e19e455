import type { Resolved } from "../define-options.ts";
import { AttachmentError } from "./attachment-error.ts";
import type { AttachmentLimits } from "./attachment-limits.ts";

/** What a model is given of a file: its text, or its bytes with their type. */
export type AttachmentContent =
  | { readonly type: "text"; readonly mediaType: string; readonly text: string }
  | { readonly type: "file"; readonly mediaType: string; readonly bytes: Uint8Array };

/** The first bytes of the types that are known by them; `undefined` stands for any byte. */
const signatures: readonly (readonly [mediaType: string, ...bytes: (number | undefined)[]])[] = [
  ["image/png", 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  ["image/jpeg", 0xff, 0xd8, 0xff],
  ["image/gif", 0x47, 0x49, 0x46, 0x38],
  ["image/webp", 0x52, 0x49, 0x46, 0x46, ...Array(4).fill(undefined), 0x57, 0x45, 0x42, 0x50],
  ["application/pdf", 0x25, 0x50, 0x44, 0x46, 0x2d],
];

/** The type of bytes that are an image or a PDF, by how they begin; undefined for any other. */
export const mediaTypeOfBytes = (bytes: Uint8Array): string | undefined =>
  signatures.find(([, ...start]) =>
    start.every((byte, index) => (byte === undefined ? index < bytes.length : byte === bytes[index])),
  )?.[0];

const decodeUtf8 = (bytes: Uint8Array): string | undefined => {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
};

/** `type/subtype` in lower case, without parameters; undefined for text that is not a media type. */
const essenceOf = (mimeType: string | undefined): string | undefined =>
  /^\s*([a-z0-9][a-z0-9!#$&^_.+-]{0,100}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,100})\s*(?:;|$)/i
    .exec(mimeType ?? "")?.[1]
    ?.toLowerCase();

const isTextType = (type: string): boolean =>
  type.startsWith("text/") || /^application\/(?:.*[+-])?(?:json|xml|yaml|javascript|toml|sql)$/.test(type);

/**
 * Decides by the bytes what a file is: a known image or PDF, or text in UTF-8. The type that its sender gave names the kind of
 * text, and decides for bytes of another kind only. Throws an {@link AttachmentError} `attachment_unsupported` or
 * `attachment_too_large`.
 */
export const toAttachmentContent = (
  bytes: Uint8Array,
  mimeType: string | undefined,
  { maxTextLength, mediaTypes }: Resolved<AttachmentLimits>,
): AttachmentContent => {
  const given = essenceOf(mimeType);
  const known = mediaTypeOfBytes(bytes);
  const text = known === undefined ? decodeUtf8(bytes) : undefined;
  if (text !== undefined) {
    if (text.length > maxTextLength) {
      throw new AttachmentError("attachment_too_large", `has more than ${maxTextLength} characters of text`);
    }
    return { type: "text", mediaType: given && isTextType(given) ? given : "text/plain", text };
  }
  if (known === undefined && given && (isTextType(given) || signatures.some(([type]) => type === given))) {
    throw new AttachmentError("attachment_unsupported", `is called ${given}, and its content is not`);
  }
  const mediaType = known ?? given ?? "application/octet-stream";
  if (!mediaTypes.includes(mediaType)) {
    throw new AttachmentError(
      "attachment_unsupported",
      `is of a type that the model is not given (${mediaType})`,
    );
  }
  return { type: "file", mediaType, bytes };
};
