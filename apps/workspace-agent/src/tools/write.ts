import { ToolError } from "@harnesskit/agent-sdk";
import { changedError, displayPath, notAFileError } from "../file-errors.ts";
import { type FileSnapshot, takeSnapshot } from "../file-snapshot.ts";
import { replaceFile } from "../replace-file.ts";
import { decodeExactly, throwIfCancelled } from "../text.ts";
import { type CallContext, defineTool } from "../tool.ts";
import { writeDeclaration } from "../tool-declarations.ts";
import { unifiedDiff } from "../unified-diff.ts";
import { assertWritablePath } from "../workspace.ts";

/** Creates or replaces a file. */
export const writeTool = defineTool(writeDeclaration, {
  async normalise(input, { workspace, limits }) {
    const path = await workspace.resolve(input.path);
    if (path === ".") throw notAFileError(path, "a directory");
    assertWritablePath(path);
    if (Buffer.byteLength(input.content) > limits.maxWriteBytes)
      throw new ToolError("tool.invalid_input", `content has more than ${limits.maxWriteBytes} bytes`);
    return { path, content: input.content };
  },

  async preview(input, context) {
    const before = await takeSnapshot(context.workspace, input.path, context.limits.maxWriteBytes);
    return { text: previewText(input, before, context), shownState: before.state };
  },

  async run(input, { workspace, limits, signal, shownState }) {
    const { path } = input;
    const before = await takeSnapshot(workspace, path, limits.maxWriteBytes);
    if (shownState !== undefined && shownState !== before.state) throw changedError(path);
    throwIfCancelled(signal);
    const content = Buffer.from(input.content);
    await replaceFile(workspace, path, content, before);
    return { path, bytes: content.length, created: !before.exists };
  },
});

function previewText(
  { path, content }: { readonly path: string; readonly content: string },
  before: FileSnapshot,
  { limits }: CallContext,
): string {
  if (!before.exists) return unifiedDiff(path, undefined, content, limits.maxPreviewLength);
  const old = before.content && decodeExactly(before.content);
  if (old !== undefined) return unifiedDiff(path, old, content, limits.maxPreviewLength);
  const kind = before.content === undefined ? "large" : "binary";
  const fresh = unifiedDiff(path, undefined, content, limits.maxPreviewLength);
  return `[${displayPath(path)} is a ${kind} file of ${before.sizeBytes} bytes: all of it is replaced]\n${fresh}`;
}
