import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { BackgroundCommands } from "./background-commands.ts";
import type { ToolDeclaration } from "./declarations.ts";
import type { WorkspaceToolsLimits } from "./limits.ts";
import type { Workspace } from "./workspace.ts";

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

/** What a call may use while it runs. */
export interface RunContext extends CallContext {
  readonly signal: AbortSignal;
  /** The commands in the background, and the conversation that the call belongs to. */
  readonly commands: BackgroundCommands;
  readonly owner: string;
  /** Streams output. The reader bounds what comes faster than it reads. */
  log(stream: "stdout" | "stderr", text: string): void;
  /** Reports what a failing call has produced. */
  partialResult(output: JsonObject): void;
  /** The `shownState` of the preview that was judged. With it, a file that has changed since fails the call. */
  readonly shownState?: string;
}

/** What a human judges beside the input. */
export interface Preview {
  /** A unified diff, bounded. Untrusted text. */
  readonly text: string;
  /** Identifies the content of the file that the diff starts from. */
  readonly shownState: string;
}

/** One tool, independent of how it is served. */
export interface WorkspaceToolDefinition<Input extends JsonObject, Output extends JsonObject>
  extends ToolDeclaration<Input> {
  /** The canonical spelling of an input: equal for all inputs that mean the same, and for itself. Without any effect. */
  normalise(input: Input, context: CallContext): Promise<Input>;
  /** What a normalised input would change. Without any effect. */
  preview?(input: Input, context: CallContext): Promise<Preview | undefined>;
  /** Does it. Takes a normalised input. Throws `ToolError` for every failure that is expected. */
  run(input: Input, context: RunContext): Promise<Output>;
}
