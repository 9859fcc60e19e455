import { ToolError } from "@harnesskit/agent-sdk";
import { systemErrorCode } from "@harnesskit/node-kit";

const needsQuotes = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}"\\]/u;

/** A path for a message or a diff: on one line, quoted with escapes where it holds anything invisible. */
export function displayPath(path: string): string {
  const shown = path.length > 300 ? `${path.slice(0, 300)}…` : path;
  if (!needsQuotes.test(shown)) return shown;
  return JSON.stringify(shown).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** `tool.changed`: the file differs from what was checked or shown, and nothing was done. */
export const changedError = (path: string): ToolError =>
  new ToolError(
    "tool.changed",
    `${displayPath(path)} has changed since the call was prepared; nothing was done`,
  );

/** `tool.outside_workspace` */
export const outsideError = (path: string): ToolError =>
  new ToolError("tool.outside_workspace", `${displayPath(path)} is outside the workspace`);

/** `tool.not_a_file` */
export const notAFileError = (path: string, kind: string): ToolError =>
  new ToolError("tool.not_a_file", `${displayPath(path)} is ${kind}, not a regular file`);

const failures: Record<string, readonly [code: string, text: string]> = {
  ENOENT: ["tool.not_found", "does not exist"],
  ENOTDIR: ["tool.not_found", "does not exist: a part of the path is not a directory"],
  EISDIR: ["tool.not_a_file", "is a directory, not a regular file"],
  ELOOP: ["tool.changed", "has become a link since the call was prepared; nothing was done"],
  EEXIST: ["tool.changed", "has appeared since the call was prepared; nothing was done"],
  ENXIO: ["tool.not_a_file", "is a special file, not a regular file"],
  ENAMETOOLONG: ["tool.invalid_input", "has too long a name"],
  EACCES: ["tool.failed", "cannot be used: permission denied"],
  EPERM: ["tool.failed", "cannot be used: permission denied"],
  EROFS: ["tool.failed", "cannot be written: the file system is read-only"],
  ENOSPC: ["tool.failed", "cannot be written: no space is left"],
  EDQUOT: ["tool.failed", "cannot be written: the disk quota is used up"],
};

/** A file system failure as a `ToolError` whose message names only the path inside the workspace. */
export function toFileError(error: unknown, path: string): ToolError {
  if (ToolError.isInstance(error)) return error;
  const [code, text] = failures[systemErrorCode(error) ?? ""] ?? ["tool.failed", "could not be used"];
  return new ToolError(code, `${displayPath(path)} ${text}`, { cause: error });
}
