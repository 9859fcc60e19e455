import { resolve } from "node:path";
import { ToolError } from "@harnesskit/agent-sdk";
import { isObject } from "@harnesskit/wire/json";
import { displayPath } from "./file-errors.ts";
import { takeSnapshot } from "./file-snapshot.ts";
import { workspaceToolsLimits } from "./limits.ts";
import { countOccurrences } from "./occurrences.ts";
import { addedText, applyHunks, type PatchedFile, readPatchEnvelope } from "./patch-envelope.ts";
import { decodeExactly, isCrlf, toCrlf } from "./text.ts";
import { type FileChange, unifiedDiffs } from "./unified-diff.ts";
import { Workspace } from "./workspace.ts";

/** An edit of another program's tool, whose arguments have the names that such tools commonly have. */
export interface ForeignEdit {
  readonly arguments: unknown;
  /** The directory that holds the files, an absolute path. Nothing outside of it is read. */
  readonly workspace: string;
  /** Where relative paths begin. @default the workspace */
  readonly cwd?: string | undefined;
}

interface Replacement {
  readonly before: string;
  readonly after: string;
  readonly isEach: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const { maxWriteBytes, maxPreviewLength } = workspaceToolsLimits.defaults;

const pathNames = ["path", "file_path", "filePath", "abs_path", "absolute_path"];
const contentNames = ["content", "contents", "file_text"];
const beforeNames = ["old_string", "old_str", "oldString", "oldText", "old_text"];
const afterNames = ["new_string", "new_str", "newString", "newText", "new_text"];
const patchNames = ["patch", "patchText", "command", "input"];
const eachNames = ["replace_all", "replaceAll", "allow_multiple"];

const textAt = (fields: Fields, names: readonly string[]): string | undefined =>
  names.map((name) => fields[name]).find((value) => typeof value === "string");

/** What cannot be shown, and why. */
const noDiff = (path: string, why: string): ToolError =>
  new ToolError("tool.failed", `${displayPath(path)} ${why}`);

const replacementOf = (fields: Fields): Replacement | undefined => {
  const before = textAt(fields, beforeNames);
  const after = textAt(fields, afterNames);
  if (before === undefined || after === undefined) return undefined;
  const { expected_replacements: expected } = fields;
  const isEach =
    eachNames.some((name) => fields[name] === true) || (typeof expected === "number" && expected > 1);
  return { before, after, isEach };
};

const replaced = (path: string, text: string, { before, after, isEach }: Replacement): string => {
  const inFile = isCrlf(text) ? toCrlf : (part: string) => part;
  const [old, fresh] = [inFile(before), inFile(after)];
  if (old === "") throw noDiff(path, "is not empty, and the edit does not say what it replaces");
  const { count, first } = countOccurrences(text, old);
  if (count === 0) throw noDiff(path, "does not contain what the edit replaces");
  if (isEach) return text.split(old).join(fresh);
  if (count > 1) throw noDiff(path, `contains what the edit replaces ${count} times`);
  return text.slice(0, first) + fresh + text.slice(first + old.length);
};

/** Reads the files of edits, and nothing outside of their workspace. */
class EditReader {
  readonly #workspace: Workspace;
  readonly #cwd: string;

  constructor(workspace: Workspace, cwd: string) {
    this.#workspace = workspace;
    this.#cwd = cwd;
  }

  /** The path in the workspace, and the text; undefined where no file is. */
  async read(given: string): Promise<{ readonly path: string; readonly text: string | undefined }> {
    const path = await this.#workspace.resolve(resolve(this.#cwd, given));
    const file = await takeSnapshot(this.#workspace, path, maxWriteBytes);
    if (!file.exists) return { path, text: undefined };
    if (file.content === undefined) throw noDiff(path, `has more than ${maxWriteBytes} bytes`);
    const text = decodeExactly(file.content);
    if (text === undefined) throw noDiff(path, "is a binary file");
    return { path, text };
  }

  async replace(given: string, edits: readonly Replacement[]): Promise<FileChange> {
    const { path, text } = await this.read(given);
    const [first, ...others] = edits;
    // An edit of nothing makes a new file.
    const isNew = (text ?? "") === "" && first?.before === "";
    if (text === undefined && !isNew) throw noDiff(path, "does not exist");
    const begun = isNew ? first.after : (text ?? "");
    const after = (isNew ? others : edits).reduce((now, edit) => replaced(path, now, edit), begun);
    return { path, before: text, after };
  }

  async patch(files: readonly PatchedFile[]): Promise<readonly FileChange[]> {
    const changes: FileChange[] = [];
    for (const { kind, path: given, movedTo, lines } of files) {
      const { path, text } = await this.read(given);
      if (kind === "add") {
        const after = addedText(lines);
        if (after === undefined) throw noDiff(path, "is added by lines that are not a patch's");
        changes.push({ path, before: text, after });
        continue;
      }
      if (text === undefined) throw noDiff(path, "does not exist");
      const after = kind === "delete" ? undefined : applyHunks(text, lines);
      if (kind === "update" && after === undefined)
        throw noDiff(path, "does not contain the lines that the patch replaces");
      if (movedTo === undefined) changes.push({ path, before: text, after });
      else {
        const target = await this.read(movedTo);
        changes.push(
          { path, before: text, after: undefined },
          { path: target.path, before: target.text, after },
        );
      }
    }
    return changes;
  }
}

const changesOf = async (reader: EditReader, fields: Fields): Promise<readonly FileChange[] | undefined> => {
  const patch = readPatchEnvelope(textAt(fields, patchNames) ?? "");
  if (patch !== undefined) return reader.patch(patch);
  const given = textAt(fields, pathNames);
  if (given === undefined) return undefined;
  const content = textAt(fields, contentNames);
  if (content !== undefined) {
    const { path, text } = await reader.read(given);
    return [{ path, before: text, after: content }];
  }
  const edits = Array.isArray(fields.edits) ? fields.edits.filter(isObject) : [fields];
  const replacements = edits.map((edit) => replacementOf(edit as Fields));
  if (replacements.length === 0 || replacements.includes(undefined)) return undefined;
  return [await reader.replace(given, replacements as Replacement[])];
};

/**
 * What an edit of another program would change, as a unified diff with line numbers; for a file that cannot be read or that the edit does not
 * fit, a line in brackets that says why. Undefined for arguments that are not an edit's. Reads regular files of the workspace up to 4 MiB,
 * and follows no link out of it. Writes nothing, and never rejects.
 */
export const previewForeignEdit = async ({
  arguments: given,
  workspace: directory,
  cwd = directory,
}: ForeignEdit): Promise<string | undefined> => {
  if (!isObject(given)) return undefined;
  try {
    const reader = new EditReader(await Workspace.open(directory), cwd);
    const changes = await changesOf(reader, given as Fields);
    if (changes === undefined) return undefined;
    const isLarge = changes.some(({ after = "" }) => after.length > maxWriteBytes);
    if (isLarge) return `[no diff is shown: a file would have more than ${maxWriteBytes} characters]`;
    const isSame = changes.every(({ before, after }) => before === after);
    return isSame ? "[the files stay as they are]" : unifiedDiffs(changes, maxPreviewLength);
  } catch (error) {
    const why = ToolError.isInstance(error) ? error.message : "the file could not be read";
    return `[no diff is shown: ${why}]`;
  }
};
