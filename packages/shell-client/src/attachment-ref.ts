import type { AttachmentRef } from "@harnesskit/protocol/openharness";
import { ShellClientError } from "./shell-client-error.ts";

/**
 * A reference as a user writes it, for `ask.attachments`: an address (`https://…`, `file:///…`, `app:…`) is the `uri`; anything else is
 * the `ref_id`, which the engine knows, for `harness engine` a path in its workspace. Nothing is opened here. Throws a
 * `ShellClientError` `invalid_request`, reason `no_reference`, for one that is blank.
 */
export const toAttachmentRef = (reference: string): AttachmentRef => {
  const text = reference.trim();
  if (text === "") {
    throw new ShellClientError("invalid_request", "an attachment must have a ref_id or a uri", {
      reason: "no_reference",
    });
  }
  // A letter before a colon is a drive.
  if (/^[a-z][a-z0-9+.-]+:/i.test(text)) return { uri: text };
  const filename = text.slice(Math.max(text.lastIndexOf("/"), text.lastIndexOf("\\")) + 1);
  return filename === "" ? { ref_id: text } : { ref_id: text, filename };
};
