import { ToolError } from "@harnesskit/agent-sdk";
import { defined } from "@harnesskit/wire/json";
import { type ReadInput, readDeclaration } from "../declarations.ts";
import type { WorkspaceToolDefinition } from "../definition.ts";
import { displayPath, toFileError } from "../file-errors.ts";
import { readLines } from "../read-lines.ts";
import { openRegularFile } from "../safe-open.ts";
import { binaryError, throwIfCancelled } from "../text.ts";

/** Output of the read tool. */
export type ReadOutput = {
  path: string;
  /** The lines as they are in the file, line ends included. Bytes that are not UTF-8 are shown as U+FFFD. */
  text: string;
  /** Numbers of the first and last line in `text`, and of lines in the file. An empty file has `{ from: 1, to: 0, total: 0 }`. */
  lines: { from: number; to: number; total: number };
  /** Less was returned than was asked for. */
  truncated?: true;
};

/** Reads lines of a file. */
export const readTool: WorkspaceToolDefinition<ReadInput, ReadOutput> = {
  ...readDeclaration,

  async normalise(input, { workspace }) {
    const path = await workspace.resolve(input.path);
    return defined({
      path,
      offset: input.offset === undefined || input.offset === 1 ? undefined : input.offset,
      limit: input.limit,
    });
  },

  async run(input, { workspace, limits, signal }) {
    const { path } = input;
    const from = input.offset ?? 1;
    const handle = await openRegularFile(workspace, path);
    try {
      if ((await handle.stat()).size > limits.maxReadableFileBytes)
        throw new ToolError(
          "tool.too_large",
          `${displayPath(path)} has more than ${limits.maxReadableFileBytes} bytes`,
        );
      const range = {
        from,
        count: input.limit ?? Number.POSITIVE_INFINITY,
        maxBytes: limits.maxReadBytes,
        maxFileBytes: limits.maxReadableFileBytes,
      };
      const found = await readLines(handle, range, signal);
      if (found === "binary") throw binaryError(path);
      if (from > Math.max(1, found.total))
        throw new ToolError(
          "tool.invalid_input",
          `offset ${from} is past the end: the file has ${found.total} lines`,
        );
      return defined({
        path,
        text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(found.bytes),
        lines: { from, to: found.to, total: found.total },
        truncated: found.truncated || undefined,
      });
    } catch (error) {
      throwIfCancelled(signal);
      throw toFileError(error, path);
    } finally {
      await handle.close();
    }
  },
};
