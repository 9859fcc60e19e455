import type { PreparedCall, ToolEffects, ToolExecution } from "@harnesskit/thread-server";
import type { z } from "zod";
import type { WorkspaceToolsLimits } from "./limits.ts";
import type { Workspace } from "./workspace.ts";

/** A JSON object, as the input of a tool. */
export type JsonObject = PreparedCall["input"];
/** A JSON value, as the output of a tool. */
export type JsonValue = Awaited<ReturnType<PreparedCall["run"]>>;

/** How the tools are set up, the same for every call. */
export interface ToolSettings {
  readonly limits: Readonly<WorkspaceToolsLimits>;
  /** Names of environment variables that commands see beside the default ones. */
  readonly env: readonly string[];
  /** Directories, separated as in `PATH`, in which ripgrep is looked for. */
  readonly searchPath: string;
}

/** What a call may use before it runs. */
export interface CallContext extends ToolSettings {
  readonly workspace: Workspace;
}

/** What a call may use while it runs. */
export interface RunContext extends CallContext {
  readonly signal: AbortSignal;
  readonly log: ToolExecution["log"];
  /** The `shownState` of the preview that was judged. With it, a file that has changed since fails the call. */
  readonly shownState?: string;
}

/** What a human judges beside the input. */
export interface Preview {
  /** A unified diff, bounded. Untrusted text. */
  readonly text: string;
  /** Stands for the content of the file that the diff starts from. */
  readonly shownState: string;
}

/** One tool, independent of the SDK that serves it. */
export interface WorkspaceToolDefinition<Input extends JsonObject, Output extends JsonValue> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly effects: ToolEffects;
  /** The canonical spelling of an input: equal for all inputs that mean the same. Without any effect. */
  normalise(input: Input, context: CallContext): Promise<Input>;
  /** What a normalised input would change. Without any effect. */
  preview?(input: Input, context: CallContext): Promise<Preview>;
  /** Does it. Takes a normalised input. Throws `ToolError` for every failure that is expected. */
  run(input: Input, context: RunContext): Promise<Output>;
}
