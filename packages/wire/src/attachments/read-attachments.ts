import type { Resolved } from "../define-options.ts";
import { displayText } from "../display.ts";
import { type AttachmentContent, toAttachmentContent } from "./attachment-content.ts";
import { AttachmentError } from "./attachment-error.ts";
import type { AttachmentLimits } from "./attachment-limits.ts";

/** What a reader of attachments is given beside the reference. */
export interface AttachmentScope {
  /** The most bytes that are of use; a reader of more stops and throws `attachment_too_large`. */
  readonly maxBytes: number;
  /** Aborts when the answer is of no use any more. */
  readonly signal: AbortSignal;
}

/** A reference to a file. */
export interface Attachment<Source> {
  /** As its user knows it. */
  readonly name: string;
  readonly mimeType: string | undefined;
  readonly source: Source;
}

/** One attachment by its name on one line: what it holds, or why it does not reach the model. */
export type ReadAttachment = { readonly name: string } & (
  | { readonly content: AttachmentContent; readonly error?: undefined }
  | { readonly content?: undefined; readonly error: AttachmentError }
);

const asAttachmentError = (cause: unknown): AttachmentError =>
  AttachmentError.isInstance(cause)
    ? cause
    : new AttachmentError("attachment_unreadable", "could not be read", { cause });

/**
 * Reads the attachments of a message, one after the other, in their order and within the limits. Where `read` throws an
 * {@link AttachmentError}, that is the reason; anything else is `attachment_unreadable`. Rejects with the signal's reason only.
 */
export const readAttachments = async <Source>(
  attachments: readonly Attachment<Source>[],
  read: (source: Source, scope: AttachmentScope) => Uint8Array | Promise<Uint8Array>,
  limits: Resolved<AttachmentLimits>,
  signal: AbortSignal,
): Promise<ReadAttachment[]> => {
  const { maxFiles, maxFileBytes, maxTotalBytes } = limits;
  let left = maxTotalBytes;
  const readOne = async (source: Source, mimeType: string | undefined): Promise<AttachmentContent> => {
    const maxBytes = Math.min(maxFileBytes, left);
    const tooLarge = () =>
      maxBytes < maxFileBytes
        ? new AttachmentError("attachment_too_large", `exceeds the ${maxTotalBytes} bytes of all attachments`)
        : new AttachmentError("attachment_too_large", `has more than ${maxFileBytes} bytes`);
    if (maxBytes === 0) throw tooLarge();
    try {
      const bytes = await read(source, { maxBytes, signal });
      if (bytes.byteLength > maxBytes) throw tooLarge();
      const content = toAttachmentContent(bytes, mimeType, limits);
      left -= bytes.byteLength;
      return content;
    } catch (error) {
      throw AttachmentError.isInstance(error) &&
        error.code === "attachment_too_large" &&
        maxBytes < maxFileBytes
        ? tooLarge()
        : error;
    }
  };
  const results: ReadAttachment[] = [];
  for (const [index, attachment] of attachments.entries()) {
    signal.throwIfAborted();
    const name = displayText(attachment.name, { maxLength: 300 });
    try {
      if (index >= maxFiles) {
        throw new AttachmentError("attachment_too_many", `is one more than the ${maxFiles} that are read`);
      }
      results.push({ name, content: await readOne(attachment.source, attachment.mimeType) });
    } catch (cause) {
      signal.throwIfAborted();
      results.push({ name, error: asAttachmentError(cause) });
    }
  }
  return results;
};

/** The text of an attached file as a model reads it: its name and type on a line of their own, then its content. */
export const attachedText = (
  name: string,
  { mediaType, text }: Extract<AttachmentContent, { type: "text" }>,
) => `[attached file: ${name} (${mediaType})]\n${text}`;
