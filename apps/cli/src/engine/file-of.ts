import type { AttachmentRef } from "@harnesskit/protocol/openharness";
import { AttachmentError } from "@harnesskit/wire";

/**
 * The file of the workspace that a reference stands for: its `ref_id` is a path in it, its `uri` the address of a file. Throws an
 * `AttachmentError` for a reference with neither.
 */
export const fileOf = ({ ref_id, uri }: AttachmentRef): string => {
  const file = ref_id || uri;
  if (file) return file;
  throw new AttachmentError(
    "attachment_not_found",
    "names no file of the workspace: ref_id must be its path",
  );
};
