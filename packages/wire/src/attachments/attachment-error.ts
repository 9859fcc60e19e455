import { HarnessError } from "../errors.ts";

export type AttachmentErrorCode =
  | "attachment_not_found"
  | "attachment_not_allowed"
  | "attachment_too_large"
  | "attachment_too_many"
  | "attachment_unsupported"
  | "attachment_unreadable";

/**
 * An attachment that does not reach the model. The message is the reason without the attachment's name, and safe to show:
 * `is outside the workspace`.
 */
export class AttachmentError extends HarnessError<AttachmentErrorCode> {
  static override readonly brand = "AttachmentError";
}
