import { ToolError } from "@harnesskit/agent-sdk";
import type * as z from "zod";
import { changedError, displayPath, notAFileError, toFileError } from "../file-errors.ts";
import { type PresentFile, takeSnapshot } from "../file-snapshot.ts";
import { countOccurrences } from "../occurrences.ts";
import { replaceFile } from "../replace-file.ts";
import { binaryError, decodeExactly, isCrlf, throwIfCancelled, toCrlf } from "../text.ts";
import { type CallContext, defineTool } from "../tool.ts";
import { editDeclaration } from "../tool-declarations.ts";
import { unifiedDiff } from "../unified-diff.ts";
import { assertWritablePath } from "../workspace.ts";

/** Replaces one passage of a file. */
export const editTool = defineTool(editDeclaration, {
  async normalise(input, { workspace }) {
    if (input.oldText === input.newText) throw sameTextError();
    const path = await workspace.resolve(input.path);
    if (path === ".") throw notAFileError(path, "a directory");
    assertWritablePath(path);
    return { path, oldText: input.oldText, newText: input.newText };
  },

  async preview(input, context) {
    const { file, before, after } = await applyEdit(input, context);
    const text = unifiedDiff(input.path, before, after, context.limits.maxPreviewLength);
    return { text, shownState: file.state };
  },

  async run(input, context) {
    const { path } = input;
    const { file, after } = await applyEdit(input, context, context.shownState);
    throwIfCancelled(context.signal);
    await replaceFile(context.workspace, path, Buffer.from(after), file);
    return { path, replacements: 1 };
  },
});

type EditInput = z.infer<typeof editDeclaration.input>;

interface AppliedEdit {
  readonly file: PresentFile;
  readonly before: string;
  readonly after: string;
}

async function applyEdit(input: EditInput, context: CallContext, shownState?: string): Promise<AppliedEdit> {
  const { path } = input;
  const { maxWriteBytes } = context.limits;
  const file = await takeSnapshot(context.workspace, path, maxWriteBytes);
  if (shownState !== undefined && file.state !== shownState) throw changedError(path);
  if (!file.exists) throw toFileError({ code: "ENOENT" }, path);
  const tooLarge = () =>
    new ToolError("tool.too_large", `${displayPath(path)} has more than ${maxWriteBytes} bytes`);
  if (file.content === undefined) throw tooLarge();
  const before = decodeExactly(file.content);
  if (before === undefined) throw binaryError(path);
  // Models write LF, whatever they have read.
  const inFile = isCrlf(before) ? toCrlf : (text: string) => text;
  const oldText = inFile(input.oldText);
  const newText = inFile(input.newText);
  if (oldText === newText) throw sameTextError();
  const { count, first } = countOccurrences(before, oldText);
  if (count === 0) throw noMatchError(path, before, oldText);
  if (count > 1)
    throw new ToolError("tool.not_unique", `oldText occurs ${count} times in ${displayPath(path)}, not once`);
  const after = before.slice(0, first) + newText + before.slice(first + oldText.length);
  if (Buffer.byteLength(after) > maxWriteBytes) throw tooLarge();
  return { file, before, after };
}

const sameTextError = () => new ToolError("tool.invalid_input", "oldText and newText are the same");

function noMatchError(path: string, before: string, oldText: string): ToolError {
  const hint =
    before.includes("\r\n") && oldText.includes("\n") && !oldText.includes("\r\n")
      ? ": some lines of the file end with CRLF, those of oldText with LF"
      : "";
  return new ToolError("tool.no_match", `oldText does not occur in ${displayPath(path)}${hint}`);
}
