import { ToolError } from "@harnesskit/agent-sdk";
import { defined } from "@harnesskit/wire/json";
import { displayPath, toFileError } from "../file-errors.ts";
import { readLines } from "../read-lines.ts";
import { openRegularFile } from "../safe-open.ts";
import { binaryError, throwIfCancelled } from "../text.ts";
import { defineTool } from "../tool.ts";
import { readDeclaration } from "../tool-declarations.ts";

/** Reads lines of a file. */
export const readTool = defineTool(readDeclaration, {
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
});
