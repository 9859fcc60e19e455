import { isDeepStrictEqual } from "node:util";
import { ToolError } from "@harnesskit/agent-sdk";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { BackgroundCommands } from "./background-commands.ts";
import type { Prepared } from "./declarations.ts";
import type { WorkspaceToolsLimits } from "./limits.ts";
import { cutText, throwIfCancelled } from "./text.ts";
import type { Expected, ToolDeclaration } from "./tool-declarations.ts";
import { Workspace } from "./workspace.ts";

/** How the tools are set up, the same for every call. */
export interface ToolSettings {
  readonly limits: WorkspaceToolsLimits;
  /** Names of environment variables that commands see beside the default ones. */
  readonly env: readonly string[];
  /** The path of ripgrep. Rejects with `ToolError` `tool.ripgrep_missing`. */
  ripgrep(): Promise<string>;
}

/** What a call may use before it runs. */
export interface CallContext extends ToolSettings {
  readonly workspace: Workspace;
}

/** What a running call may use of its agent. */
export interface RunServices {
  readonly signal: AbortSignal;
  /** The commands in the background, and the conversation that the call belongs to. */
  readonly commands: BackgroundCommands;
  readonly owner: string;
  /** Streams output. The reader bounds what comes faster than it reads. */
  log(stream: "stdout" | "stderr", text: string): void;
  /** Reports what a failing call has produced. */
  partialResult(output: JsonObject): void;
}

/** What a call may use while it runs. */
export interface RunContext extends CallContext, RunServices {
  /** The `shownState` of the preview that was judged. With it, a file that has changed since fails the call. */
  readonly shownState?: string | undefined;
}

/** What a human judges beside the input. */
export interface Preview {
  /** A unified diff, bounded. Untrusted text. */
  readonly text: string;
  /** Identifies the content of the file that the diff starts from. */
  readonly shownState: string;
}

/** What a tool does, independent of how it is served. */
interface ToolBehaviour<Input> {
  /** The canonical spelling of an input: equal for all inputs that mean the same, and for itself. Without any effect. */
  normalise(input: Input, context: CallContext): Promise<Input>;
  /** What a normalised input would change. Without any effect. */
  preview?(input: Input, context: CallContext): Promise<Preview | undefined>;
  /** Does it. Takes a normalised input. Throws `ToolError` for every failure that is expected. */
  run(input: Input, context: RunContext): Promise<JsonObject>;
}

/** A tool of any input: it is called only with what its own schema returned. */
export type WorkspaceTool = ToolDeclaration<JsonObject> & ToolBehaviour<JsonObject>;

export const defineTool = <Input extends JsonObject>(
  declaration: ToolDeclaration<Input>,
  behaviour: ToolBehaviour<Input>,
): WorkspaceTool => ({ ...declaration, ...behaviour }) as unknown as WorkspaceTool;

/**
 * What a call of the tool with this input would be, without any effect. Stores nothing: what the call needs later is
 * in the result. Throws `ToolError`.
 */
export async function prepareCall(
  tool: WorkspaceTool,
  settings: ToolSettings,
  given: unknown,
  directory: string,
): Promise<Prepared> {
  const workspace = await Workspace.open(directory);
  const context = { ...settings, workspace };
  const input = await tool.normalise(parseInput(tool, given), context);
  const preview = await tool.preview?.(input, context);
  const { root } = workspace;
  if (preview === undefined) return { input, expected: { root } };
  return { input, preview: preview.text, expected: { root, state: preview.shownState } };
}

/** Says which fields are invalid, and why. Throws `ToolError` `tool.invalid_input`. */
function parseInput(tool: WorkspaceTool, given: unknown): JsonObject {
  const parsed = tool.input.safeParse(given);
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
  tool: WorkspaceTool,
  settings: ToolSettings,
  { expected, ...given }: JsonObject & { readonly expected?: Expected },
  directory: string,
  services: RunServices,
): Promise<JsonObject> {
  const workspace = await Workspace.open(directory);
  if (expected !== undefined && expected.root !== workspace.root) {
    throw new ToolError(
      "tool.outside_workspace",
      "the workspace directory leads elsewhere since the call was prepared; nothing was done",
    );
  }
  const context = { ...settings, workspace };
  const input = await tool.normalise(given, context);
  if (expected !== undefined && !isDeepStrictEqual(input, given)) {
    throw new ToolError(
      "tool.changed",
      "the input means something else than when the call was prepared; nothing was done",
    );
  }
  throwIfCancelled(services.signal);
  return tool.run(input, { ...context, ...services, shownState: expected?.state });
}
