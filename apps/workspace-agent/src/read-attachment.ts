import { fileURLToPath } from "node:url";
import { ToolError } from "@harnesskit/agent-sdk";
import { isSecretFile } from "@harnesskit/command-judge/secret-files";
import { AttachmentError, type AttachmentErrorCode, type AttachmentScope } from "@harnesskit/wire";
import { toFileError } from "./file-errors.ts";
import { readAtMost } from "./read-bytes.ts";
import { openRegularFile } from "./safe-open.ts";
import { Workspace } from "./workspace.ts";

/** Why a file is not read, by the code of its failure; in words that follow the name that the user gave. */
const reasons: Readonly<Record<string, readonly [AttachmentErrorCode, string]>> = {
  "tool.outside_workspace": ["attachment_not_allowed", "is outside the workspace"],
  "tool.not_found": ["attachment_not_found", "does not exist in the workspace"],
  "tool.not_a_file": ["attachment_not_allowed", "is not a regular file"],
  "tool.invalid_input": ["attachment_not_found", "is not a usable path"],
};

const toAttachmentError = (cause: unknown): AttachmentError => {
  if (AttachmentError.isInstance(cause)) return cause;
  const found = ToolError.isInstance(cause) ? reasons[cause.code] : undefined;
  const [code, reason] = found ?? (["attachment_unreadable", "could not be read"] as const);
  return new AttachmentError(code, reason, { cause });
};

const hasScheme = (reference: string): boolean => /^[a-z][a-z0-9+.-]+:/i.test(reference);

/** The path of a reference. A path may hold a colon; an address of the form `scheme:` is one, except that of a file. */
const referencePath = (reference: string): string => {
  if (!hasScheme(reference)) return reference;
  if (!/^file:/i.test(reference)) {
    throw new AttachmentError(
      "attachment_not_allowed",
      "is an address: only files of the workspace are read",
    );
  }
  try {
    return fileURLToPath(reference);
  } catch (cause) {
    throw new AttachmentError("attachment_not_found", "is not a usable file address", { cause });
  }
};

/**
 * The bytes of a file that a user attached, by the rules of the workspace tools: a regular file inside `directory`, also behind
 * links, and none that holds secrets by its name. Takes a path, relative to the directory or absolute, or a `file:` address.
 * Rejects with an `AttachmentError` whose message follows the file's name.
 */
export async function readAttachment(
  reference: string,
  { directory, maxBytes, signal }: AttachmentScope & { readonly directory: string },
): Promise<Uint8Array> {
  signal.throwIfAborted();
  try {
    const workspace = await Workspace.open(directory);
    const given = referencePath(reference);
    const path = await workspace.resolve(given);
    if (workspace.isSecret(path) || isSecretFile(given.replaceAll("\\", "/"))) {
      throw new AttachmentError("attachment_not_allowed", "may hold secrets, judged by its name");
    }
    const handle = await openRegularFile(workspace, path);
    try {
      const bytes = await readAtMost(handle, maxBytes);
      if (bytes) return bytes;
      throw new AttachmentError("attachment_too_large", `has more than ${maxBytes} bytes`);
    } catch (error) {
      throw AttachmentError.isInstance(error) ? error : toFileError(error, path);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw toAttachmentError(error);
  }
}
