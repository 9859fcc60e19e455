import type { ChatMessage, UserBlock } from "@harnesskit/protocol/chat";
import type { AttachmentRef } from "@harnesskit/protocol/openharness";
import type { ShellCall } from "@harnesskit/shell-engine";
import type { Resolved } from "@harnesskit/wire";
import {
  AttachmentError,
  type AttachmentLimits,
  type AttachmentScope,
  attachedText,
  type ReadAttachment,
  readAttachments,
  resolveAttachmentLimits,
} from "@harnesskit/wire";

/** Who reads the references of a request, and how much of it reaches the model. */
export interface ShellAttachments<Context = unknown> extends AttachmentLimits {
  /**
   * Returns the bytes of what a reference stands for. References are what a shell wrote: it decides which of them may be read.
   * What it throws as an `AttachmentError` is shown to the user behind the attachment's name, anything else as "could not be read".
   */
  readonly read: (
    reference: AttachmentRef,
    scope: AttachmentScope & { readonly call: ShellCall<Context> },
  ) => Uint8Array | Promise<Uint8Array>;
  /** Bytes of all files of a message, which are kept in the conversation. @default 8388608 */
  readonly maxTotalBytes?: number;
  /** Types beside text. A conversation takes images only: others are left out. @default PNG, JPEG, GIF and WebP */
  readonly mediaTypes?: readonly string[];
}

/** What a user says, and the files that go with it. */
export interface SaidWithFiles {
  readonly intent?: string | undefined;
  readonly attachments: readonly AttachmentRef[];
  readonly signal: AbortSignal;
}

/** Who reads the references of a message, and the limits of what is read. */
export interface MessageFiles extends AttachmentLimits {
  readonly read: (reference: AttachmentRef, scope: AttachmentScope) => Uint8Array | Promise<Uint8Array>;
}

/** What is said to the harness; undefined where nothing is left to say. */
export interface AttachedMessage {
  readonly message: ChatMessage | undefined;
  /** For the user: what does not reach the model, by name and reason. */
  readonly dropped: string | undefined;
}

const maxTotalBytes = 8 * 1024 * 1024;

/** The limits with those of a conversation. Throws `invalid_argument`. */
export const chatAttachmentLimits = (limits: AttachmentLimits = {}): Resolved<AttachmentLimits> => {
  const resolved = resolveAttachmentLimits({
    ...limits,
    maxTotalBytes: limits.maxTotalBytes ?? maxTotalBytes,
  });
  return { ...resolved, mediaTypes: resolved.mediaTypes.filter((type) => type.startsWith("image/")) };
};

const attachmentName = ({ filename, ref_id, asset_id, uri }: AttachmentRef): string =>
  filename || ref_id || asset_id || uri || "an attachment without a name";

const toBase64 = (bytes: Uint8Array): string => {
  let binary = "";
  for (let start = 0; start < bytes.length; start += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(binary);
};

const toBlock = ({ name, content, error }: ReadAttachment): UserBlock => {
  if (!content) return { type: "text", text: `[attached file: ${name} (not included: it ${error.message})]` };
  if (content.type === "text") return { type: "text", text: attachedText(name, content) };
  const { mediaType: media_type, bytes } = content;
  return { type: "image", source: { type: "inline", base64_data: toBase64(bytes) }, media_type };
};

/**
 * What is said to a conversation with files: the intent, and what the files hold, in their order; images, and text. What does not reach the
 * model is named in the message and for the user. Rejects with the signal's reason only.
 */
export const attachedMessage = async (
  { intent = "", attachments, signal }: SaidWithFiles,
  { read, ...limits }: MessageFiles,
): Promise<AttachedMessage> => {
  if (attachments.length === 0) return { message: { role: "user", content: intent }, dropped: undefined };
  const found = await readAttachments(
    attachments.map((source) => ({ name: attachmentName(source), mimeType: source.mime_type, source })),
    read,
    chatAttachmentLimits(limits),
    signal,
  );
  const failed = found.flatMap(({ name, error }) => (error ? [`${name} ${error.message}`] : []));
  const words: UserBlock[] = intent.trim() === "" ? [] : [{ type: "text", text: intent }];
  const isEmpty = words.length === 0 && failed.length === found.length;
  return {
    message: isEmpty ? undefined : { role: "user", content: [...words, ...found.map(toBlock)] },
    dropped: failed.length === 0 ? undefined : `The model was not given: ${failed.join("; ")}.`,
  };
};

const noReader = (): never => {
  throw new AttachmentError("attachment_not_allowed", "cannot be read: this engine takes no attachments");
};

/** The reader of a request's references. */
export const filesOfRequest = <Context>(
  call: ShellCall<Context>,
  attachments: ShellAttachments<Context> | undefined,
): MessageFiles => {
  if (attachments === undefined) return { read: noReader };
  const { read, ...limits } = attachments;
  return { ...limits, read: (reference, scope) => read(reference, { ...scope, call }) };
};
