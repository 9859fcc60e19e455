import type { AttachmentScope } from "@harnesskit/wire";

/**
 * The bytes of a file that a user attached, by the rules of the workspace tools. Their code is loaded with the first file.
 * Rejects with an `AttachmentError`.
 */
export const readWorkspaceFile = async (
  reference: string,
  scope: AttachmentScope & { readonly directory: string },
): Promise<Uint8Array> => (await import("@harnesskit/workspace-agent")).readAttachment(reference, scope);
