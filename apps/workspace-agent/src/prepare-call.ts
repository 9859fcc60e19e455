import { ToolError } from "@harnesskit/agent-sdk";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type * as z from "zod";
import type { Prepared } from "./declarations/prepare.ts";
import type { ToolSettings, WorkspaceToolDefinition } from "./definition.ts";
import { cutText } from "./text.ts";
import { Workspace } from "./workspace.ts";

/**
 * What a call of the tool with this input would be, without any effect. Keeps nothing: all that the call needs later is
 * in what it returns. Throws `ToolError`.
 */
export async function prepareCall<Input extends JsonObject, Output extends JsonObject>(
  definition: WorkspaceToolDefinition<Input, Output>,
  settings: ToolSettings,
  given: unknown,
  directory: string,
): Promise<Prepared> {
  const workspace = await Workspace.open(directory);
  const context = { ...settings, workspace };
  const input = await definition.normalise(parseInput(definition.input, given), context);
  const preview = await definition.preview?.(input, context);
  const { root } = workspace;
  if (preview === undefined) return { input, expected: { root } };
  return { input, preview: preview.text, expected: { root, state: preview.shownState } };
}

/** Says which fields are wrong, and why. Throws `ToolError` `tool.invalid_input`. */
function parseInput<Input>(schema: z.ZodType<Input>, given: unknown): Input {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 5).map((issue) => {
    const where = issue.path.length === 0 ? "the input" : issue.path.join(".");
    return `${where}: ${issue.message}`;
  });
  throw new ToolError("tool.invalid_input", cutText(problems.join("; "), 1000));
}
