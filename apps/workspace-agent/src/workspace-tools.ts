import {
  type PreparedCall,
  type Tool,
  ToolError,
  type ToolExecution,
  type ToolScope,
} from "@harnesskit/thread-server";
import { InvalidArgumentError } from "@harnesskit/wire";
import { z } from "zod";
import type { JsonObject, JsonValue, ToolSettings, WorkspaceToolDefinition } from "./definition.ts";
import { resolveLimits, type WorkspaceToolsLimits } from "./limits.ts";
import { cutText, throwIfCancelled } from "./text.ts";
import { bashTool } from "./tools/bash.ts";
import { editTool } from "./tools/edit.ts";
import { globTool } from "./tools/glob.ts";
import { grepTool } from "./tools/grep.ts";
import { readTool } from "./tools/read.ts";
import { writeTool } from "./tools/write.ts";
import { Workspace } from "./workspace.ts";

/** Options of {@link createWorkspaceTools}: every limit, and what commands and searches see of this process. */
export interface WorkspaceToolsOptions extends Partial<WorkspaceToolsLimits> {
  /** Names of environment variables that commands see beside the default ones. @default [] */
  env?: readonly string[];
  /**
   * Directories, separated as in `PATH`, in which ripgrep is looked for. Relative ones and those in the workspace are
   * passed over. Empty: the built-in search is used. @default process.env.PATH
   */
  searchPath?: string;
}

/**
 * The tools bash, read, write, edit, glob and grep for a thread server.
 * Throws `InvalidArgumentError` `invalid_argument` for an option that cannot be used.
 */
export function createWorkspaceTools(options: WorkspaceToolsOptions = {}): Tool[] {
  const env = options.env ?? [];
  if (env.some((name) => typeof name !== "string" || name === "" || /[=\0]/.test(name)))
    throw new InvalidArgumentError("env holds something that is no name of an environment variable");
  const settings = {
    limits: resolveLimits(options),
    env,
    searchPath: options.searchPath ?? process.env.PATH ?? "",
  };
  return [
    toTool(bashTool, settings),
    toTool(readTool, settings),
    toTool(writeTool, settings),
    toTool(editTool, settings),
    toTool(globTool, settings),
    toTool(grepTool, settings),
  ];
}

function toTool<Input extends JsonObject, Output extends JsonValue>(
  definition: WorkspaceToolDefinition<Input, Output>,
  settings: ToolSettings,
): Tool {
  const { name, description, effects } = definition;
  const inputSchema = z.toJSONSchema(definition.input, { io: "input" }) as JsonObject;
  const prepare = (input: unknown, scope: ToolScope) =>
    safely(() => prepareCall(definition, settings, input, scope));
  return { name, description, effects, inputSchema, prepare };
}

async function prepareCall<Input extends JsonObject, Output extends JsonValue>(
  definition: WorkspaceToolDefinition<Input, Output>,
  settings: ToolSettings,
  given: unknown,
  scope: ToolScope,
): Promise<PreparedCall> {
  const context = { ...settings, workspace: await Workspace.open(scope.directory) };
  const input = await definition.normalise(parseInput(definition.input, given), context);
  const preview = await definition.preview?.(input, context);
  const run = (execution: ToolExecution) =>
    safely(() => {
      throwIfCancelled(execution.signal);
      return definition.run(input, {
        ...context,
        signal: execution.signal,
        log: (stream, text) => execution.log(stream, text),
        ...(preview === undefined ? {} : { shownState: preview.shownState }),
      });
    });
  return { input, run, ...(preview === undefined ? {} : { preview: preview.text }) };
}

function parseInput<Input>(schema: z.ZodType<Input>, given: unknown): Input {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 5).map((issue) => {
    const where = issue.path.length === 0 ? "the input" : issue.path.join(".");
    return `${where}: ${issue.message}`;
  });
  throw new ToolError("tool.invalid_input", cutText(problems.join("; "), 1000));
}

/** Lets only `ToolError` out, so that no message carries a path or a stack of this machine. */
async function safely<Result>(action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (cause) {
    if (ToolError.isInstance(cause)) throw cause;
    throw new ToolError("tool.failed", "the tool failed unexpectedly", { cause });
  }
}
