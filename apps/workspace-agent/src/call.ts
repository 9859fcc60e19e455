import { isDeepStrictEqual } from "node:util";
import { ToolError } from "@harnesskit/agent-sdk";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Expected, Prepared } from "./declarations.ts";
import type { RunContext, ToolSettings, WorkspaceToolDefinition } from "./definition.ts";
import { cutText, throwIfCancelled } from "./text.ts";
import { Workspace } from "./workspace.ts";

/** What a tool of any input needs: a definition is called only with what its own schema returned. */
export type AnyDefinition = WorkspaceToolDefinition<JsonObject, JsonObject>;

/**
 * What a call of the tool with this input would be, without any effect. Stores nothing: what the call needs later is
 * in the result. Throws `ToolError`.
 */
export async function prepareCall(
  definition: AnyDefinition,
  settings: ToolSettings,
  given: unknown,
  directory: string,
): Promise<Prepared> {
  const workspace = await Workspace.open(directory);
  const context = { ...settings, workspace };
  const input = await definition.normalise(parseCallInput(definition, given), context);
  const preview = await definition.preview?.(input, context);
  const { root } = workspace;
  if (preview === undefined) return { input, expected: { root } };
  return { input, preview: preview.text, expected: { root, state: preview.shownState } };
}

/** Says which fields are invalid, and why. Throws `ToolError` `tool.invalid_input`. */
function parseCallInput(definition: AnyDefinition, given: unknown): JsonObject {
  const parsed = definition.input.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 5).map((issue) => {
    const where = issue.path.length === 0 ? "the input" : issue.path.join(".");
    return `${where}: ${issue.message}`;
  });
  throw new ToolError("tool.invalid_input", cutText(problems.join("; "), 1000));
}

/**
 * Runs a call. A prepared call (`expected`) does what was prepared. It fails with `ToolError` `tool.outside_workspace` if
 * its directory is another one now, and with `tool.changed` if its input means something else now or the file differs from
 * what was shown.
 */
export async function runCall(
  definition: AnyDefinition,
  settings: ToolSettings,
  { given, expected, directory }: { given: JsonObject; expected: Expected | undefined; directory: string },
  services: Pick<RunContext, "signal" | "log" | "partialResult" | "commands" | "owner">,
): Promise<JsonObject> {
  const workspace = await Workspace.open(directory);
  if (expected !== undefined && expected.root !== workspace.root) {
    throw new ToolError(
      "tool.outside_workspace",
      "the workspace directory leads elsewhere since the call was prepared; nothing was done",
    );
  }
  const context = { ...settings, workspace };
  const input = await definition.normalise(given, context);
  if (expected !== undefined && !isDeepStrictEqual(input, given)) {
    throw new ToolError(
      "tool.changed",
      "the input means something else than when the call was prepared; nothing was done",
    );
  }
  const shown = expected?.state === undefined ? {} : { shownState: expected.state };
  throwIfCancelled(services.signal);
  return definition.run(input, { ...context, ...services, ...shown });
}
