import { readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { type Agent, defineAgent, type Tool, type ToolContext, ToolError, tool } from "@harnesskit/agent-sdk";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { defineOptions, InvalidArgumentError } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import type { ToolEffects } from "@harnesskit/wire/tool";
import * as z from "zod";
import { BackgroundCommands } from "./background-commands.ts";
import { neverPassedOn } from "./command-environment.ts";
import {
  endedCommandsToolName,
  prepareToolName,
  workspaceAgentId,
  workspaceCoreLimits,
} from "./declarations.ts";
import { type WorkspaceToolsLimits, workspaceToolsLimits } from "./limits.ts";
import { findRipgrep } from "./ripgrep.ts";
import { prepareCall, runCall, type ToolSettings, type WorkspaceTool } from "./tool.ts";
import type { Expected } from "./tool-declarations.ts";
import { bashTool } from "./tools/bash.ts";
import { commandInputTool, commandStopTool, commandsTool } from "./tools/commands.ts";
import { editTool } from "./tools/edit.ts";
import { globTool } from "./tools/glob.ts";
import { grepTool } from "./tools/grep.ts";
import { readTool } from "./tools/read.ts";
import { writeTool } from "./tools/write.ts";

/** Options of {@link createWorkspaceAgent}. */
export interface WorkspaceAgentOptions {
  /** See {@link WorkspaceToolsLimits}. */
  readonly limits?: Partial<WorkspaceToolsLimits> | undefined;
  /** Names of environment variables that commands see beside the default ones. @default [] */
  readonly env?: readonly string[] | undefined;
  /**
   * Absolute path of the ripgrep to search with, for a system that `@vscode/ripgrep` has no executable for.
   * @default that of `@vscode/ripgrep`
   */
  readonly ripgrepPath?: string | undefined;
}

const checkOptions = defineOptions<WorkspaceAgentOptions>("createWorkspaceAgent", {
  limits: false,
  env: false,
  ripgrepPath: false,
});

/** Bytes that one byte of a command's output can take as JSON. */
const maxEscapedBytes = 6;
/** Beside the grace of a command that is stopped: until it is gone and its last output was read. */
const stopMs = 3_000;

const tools: readonly WorkspaceTool[] = [
  bashTool,
  readTool,
  writeTool,
  editTool,
  globTool,
  grepTool,
  commandsTool,
  commandInputTool,
  commandStopTool,
];

/**
 * The agent with the tools prepare, bash, read, write, edit, glob, grep, commands, command_input and command_stop, which work in
 * `context.project_root` of each call. It keeps nothing between calls but the commands in the background, each for the
 * conversation that started it (the call's `correlation_id`). Throws `InvalidArgumentError` `invalid_argument` for an invalid option.
 */
export function createWorkspaceAgent(options: WorkspaceAgentOptions = {}): Agent {
  const { env = [], ripgrepPath } = checkOptions(options);
  if (env.some((name) => typeof name !== "string" || name === "" || /[=\0]/.test(name)))
    throw new InvalidArgumentError("env must contain names of environment variables");
  if (env.some((name) => neverPassedOn.has(name)))
    throw new InvalidArgumentError("env names a variable that is never passed to commands");
  if (ripgrepPath !== undefined && !isAbsolute(ripgrepPath))
    throw new InvalidArgumentError("ripgrepPath must be an absolute path");
  const limits = workspaceToolsLimits.resolve(options.limits);
  const settings = { limits, env, ripgrep: async () => ripgrepPath ?? findRipgrep() };
  const commands = new BackgroundCommands();
  return defineAgent({
    id: workspaceAgentId,
    version: manifestVersion(),
    tools: [
      prepareTool(settings),
      endedCommandsTool(commands),
      ...tools.map((each) => toTool(each, settings, commands)),
    ],
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

/** The version of the manifest; a fixed one without a manifest, as in an agent that is bundled into another program. */
function manifestVersion(): string {
  const unknown = "0.0.0-unknown";
  try {
    const file = new URL("../opensentience.agent.json", import.meta.url);
    const manifest = JSON.parse(readFileSync(file, "utf8")) as { id?: unknown; version?: unknown };
    return manifest.id === workspaceAgentId && typeof manifest.version === "string"
      ? manifest.version
      : unknown;
  } catch {
    return unknown;
  }
}

/** Of the manifest's permissions. */
const permissionsFor: Readonly<Record<ToolEffects, readonly string[]>> = {
  read: ["fs.read"],
  write: ["fs.read", "fs.write"],
  execute: ["process.execute"],
};

function prepareTool(settings: ToolSettings): Tool {
  return tool({
    name: prepareToolName,
    description:
      "Validates the input of another tool of this agent and makes it canonical, without any effect. Returns the `input` " +
      "to show and to call the tool with, a `preview` to judge it by where there is one, and `expected`, to be " +
      "added to that input in the call.",
    input: z.strictObject({
      tool: z.enum(tools.map(({ name }) => name)).describe("The name of the tool"),
      input: z.unknown().describe("Its input, as the model wrote it"),
    }),
    effects: "read",
    permissions: permissionsFor.read,
    tags: ["prepare"],
    run: ({ tool: name, input }, context) =>
      safely(async () => {
        const found = tools.find((one) => one.name === name);
        if (found === undefined) throw new ToolError("tool.invalid_input", "unknown tool");
        return prepareCall(found, settings, input, projectRoot(context));
      }),
  });
}

/** Of a host: what became of the commands of a conversation, before its next turn and before this process ends. */
function endedCommandsTool(commands: BackgroundCommands): Tool {
  return tool({
    name: endedCommandsToolName,
    description:
      "The commands in the background of a conversation: those that run, and how the others ended.",
    input: z.strictObject({}),
    effects: "read",
    permissions: permissionsFor.read,
    tags: ["prepare"],
    run: (_, context) =>
      safely(async () => ({
        commands: commands.report(ownerOf(context)).map(({ shown, wasTold }) => {
          const { id, running, exitCode, signal, stopped } = shown;
          const state = running ? "running" : wasTold ? "told" : "ended";
          return defined({ id, state, exitCode, signal, stopped });
        }),
      })),
  });
}

/** The conversation that a call belongs to. */
const ownerOf = (context: ToolContext): string =>
  JSON.stringify([projectRoot(context), context.correlationId ?? null]);

function toTool(served: WorkspaceTool, settings: ToolSettings, commands: BackgroundCommands): Tool {
  const { name, description, effects, callInput } = served;
  return tool({
    name,
    description,
    input: callInput,
    effects,
    permissions: permissionsFor[effects],
    tags: [effects],
    capabilities: effects === "execute" ? ["streaming", "cancellation"] : ["cancellation"],
    run: (input, context) =>
      safely(() =>
        runCall(served, settings, input as JsonObject & { expected?: Expected }, projectRoot(context), {
          signal: context.signal,
          commands,
          owner: ownerOf(context),
          log: (stream, text) => void context[stream](text),
          partialResult: (output) => void context.partialResult(output),
        }),
      ),
  });
}

/** The directory of a call. Throws `ToolError` `tool.no_project_root`. */
function projectRoot({ projectRoot: directory }: ToolContext): string {
  if (directory !== undefined && isAbsolute(directory)) return directory;
  throw new ToolError(
    "tool.no_project_root",
    "the call names no directory to work in: context.project_root must be an absolute path",
  );
}

/** Throws only `ToolError`, so that no message contains a path or a stack of this machine. */
async function safely<Result>(action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (cause) {
    if (ToolError.isInstance(cause)) throw cause;
    throw new ToolError("tool.failed", "the tool failed unexpectedly", { cause });
  }
}
