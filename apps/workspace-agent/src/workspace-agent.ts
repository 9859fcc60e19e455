import { isAbsolute } from "node:path";
import { type Agent, defineAgent, type Tool, type ToolContext, ToolError, tool } from "@harnesskit/agent-sdk";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { agentIdentity } from "./agent-identity.ts";
import { neverPassedOn } from "./command-environment.ts";
import { workspaceCoreLimits } from "./declarations/index.ts";
import { declarePrepare } from "./declarations/prepare.ts";
import type { ToolSettings, WorkspaceToolDefinition } from "./definition.ts";
import type { Expected } from "./expected.ts";
import { resolveLimits, type WorkspaceToolsLimits } from "./limits.ts";
import { prepareCall } from "./prepare-call.ts";
import { findRipgrep } from "./ripgrep-path.ts";
import { runCall } from "./run-call.ts";
import { bashTool } from "./tools/bash.ts";
import { editTool } from "./tools/edit.ts";
import { globTool } from "./tools/glob.ts";
import { grepTool } from "./tools/grep.ts";
import { readTool } from "./tools/read.ts";
import { writeTool } from "./tools/write.ts";

/** Options of {@link createWorkspaceAgent}: every limit, and what commands and searches see of this process. */
export interface WorkspaceAgentOptions extends Partial<WorkspaceToolsLimits> {
  /** Names of environment variables that commands see beside the default ones. @default [] */
  env?: readonly string[];
  /**
   * Absolute path of the ripgrep to search with, for a system that `@vscode/ripgrep` has no executable for.
   * @default that of `@vscode/ripgrep`
   */
  ripgrepPath?: string;
}

/** Bytes that one byte of a command's output can take as JSON. */
const maxEscapedBytes = 6;
/** Beside the grace of a command that is stopped: for it to be gone, and for what it still wrote. */
const stopMs = 3_000;

/**
 * The agent with the tools prepare, bash, read, write, edit, glob and grep, which work in `context.project_root` of each
 * call. It keeps nothing between calls. Throws `InvalidArgumentError` `invalid_argument` for an option that cannot be used.
 */
export function createWorkspaceAgent(options: WorkspaceAgentOptions = {}): Agent {
  const env = options.env ?? [];
  if (env.some((name) => typeof name !== "string" || name === "" || /[=\0]/.test(name)))
    throw new InvalidArgumentError("env holds something that is no name of an environment variable");
  if (env.some((name) => neverPassedOn.has(name)))
    throw new InvalidArgumentError("env holds a variable that commands are never given");
  const limits = resolveLimits(options);
  const { ripgrepPath } = options;
  if (ripgrepPath !== undefined && !isAbsolute(ripgrepPath))
    throw new InvalidArgumentError("ripgrepPath is not an absolute path");
  const ripgrep = async () => ripgrepPath ?? findRipgrep();
  const settings = { limits, env, ripgrep };
  return defineAgent({
    ...agentIdentity(),
    tools: [prepareTool(settings), ...definitions.map((definition) => toTool(definition, settings))],
    cancelGraceMs: limits.killGraceMs + stopMs,
    limits: {
      maxToolInputBytes: workspaceCoreLimits.maxToolInputBytes,
      maxToolOutputBytes: workspaceCoreLimits.maxToolOutputBytes,
      // One message holds both outputs of a command that failed.
      maxStreamChunkBytes: 4096 + 2 * maxEscapedBytes * limits.maxOutputBytes,
      maxStreamQueueBytes: workspaceCoreLimits.maxStreamBytes,
      // Each message counts with its frame, and a command may write byte by byte up to `maxStreamedBytes`.
      maxStreamBytes: 2 * 128 * limits.maxStreamedBytes,
    },
    outputFiles: false,
  });
}

type AnyDefinition = WorkspaceToolDefinition<JsonObject, JsonObject>;

// A definition is called only with what its own schema has made.
const definitions = [
  bashTool,
  readTool,
  writeTool,
  editTool,
  globTool,
  grepTool,
] as readonly unknown[] as readonly AnyDefinition[];

function prepareTool(settings: ToolSettings): Tool {
  return tool({
    ...declarePrepare(definitions),
    sideEffects: false,
    tags: ["prepare"],
    run: ({ tool: name, input }, context) =>
      safely(async () => {
        const definition = definitions.find((one) => one.name === name);
        if (definition === undefined)
          throw new ToolError("tool.invalid_input", "there is no tool of that name");
        return prepareCall(definition, settings, input, projectRoot(context));
      }),
  });
}

function toTool(definition: AnyDefinition, settings: ToolSettings): Tool {
  const { name, description, effects, callInput } = definition;
  return tool({
    name,
    description,
    input: callInput,
    sideEffects: effects !== "read",
    tags: [effects],
    capabilities: effects === "execute" ? ["streaming", "cancellation"] : ["cancellation"],
    run: (input, context) =>
      safely(() => {
        const { expected, ...given } = input as JsonObject & { expected?: Expected };
        const call = { given, expected, directory: projectRoot(context) };
        return runCall(definition, settings, call, {
          signal: context.signal,
          log: (stream, text) => void context[stream](text),
          partialResult: (output) => void context.partialResult(output),
        });
      }),
  });
}

/** The directory of a call. Throws `ToolError` `tool.no_project_root`. */
function projectRoot({ projectRoot: directory }: ToolContext): string {
  if (directory !== undefined && isAbsolute(directory)) return directory;
  throw new ToolError(
    "tool.no_project_root",
    "the call names no directory to work in: context.project_root is an absolute path",
  );
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
