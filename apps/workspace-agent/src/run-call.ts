import { isDeepStrictEqual } from "node:util";
import { ToolError } from "@harnesskit/agent-sdk";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { RunContext, ToolSettings, WorkspaceToolDefinition } from "./definition.ts";
import type { Expected } from "./expected.ts";
import { Workspace } from "./workspace.ts";

/** What a running call may use of whoever serves it. */
export type CallServices = Pick<RunContext, "signal" | "log" | "partialResult">;

/**
 * Runs a call. One that was prepared (`expected`) does what was prepared: it fails with `ToolError`
 * `tool.outside_workspace` where its directory has become another, and with `tool.changed` where its input means
 * something else now, or the file is no longer what was shown. Throws `ToolError`.
 */
export async function runCall<Input extends JsonObject, Output extends JsonObject>(
  definition: WorkspaceToolDefinition<Input, Output>,
  settings: ToolSettings,
  { given, expected, directory }: { given: Input; expected: Expected | undefined; directory: string },
  services: CallServices,
): Promise<Output> {
  const workspace = await Workspace.open(directory);
  if (expected !== undefined && expected.root !== workspace.root) throw movedError();
  const context = { ...settings, workspace };
  const input = await definition.normalise(given, context);
  if (expected !== undefined && !isDeepStrictEqual(input, given)) throw otherMeaningError();
  return definition.run(input, {
    ...context,
    ...services,
    ...(expected?.state === undefined ? {} : { shownState: expected.state }),
  });
}

const movedError = () =>
  new ToolError(
    "tool.outside_workspace",
    "the workspace directory leads elsewhere since the call was prepared; nothing was done",
  );

const otherMeaningError = () =>
  new ToolError(
    "tool.changed",
    "the input means something else than when the call was prepared; nothing was done",
  );
