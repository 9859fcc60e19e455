import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { ToolEffects } from "@harnesskit/wire/tool";
import * as z from "zod";
import { ExpectedSchema, toolDeclarations } from "./tool-declarations.ts";

// For a program that offers the tools and calls them over a core: what it shows and checks, without the tools' code.

/** The id of the agent, as in its manifest: the part of its tools' ids before the slash. */
export const workspaceAgentId = "harnesskit.workspace";

/** The variable that carries the further variables of commands to the agent's process: a JSON object of names and values. */
export const passedVariablesName = "HARNESS_PASSED_VARIABLES";

/** The tool that inspects a call of another tool before it is made. */
export const prepareToolName = "prepare";

/** What `prepare` returns. */
export const PreparedSchema = z.object({
  input: z.record(z.string(), z.json()),
  preview: z.string().exactOptional(),
  expected: ExpectedSchema,
});
export type Prepared = z.infer<typeof PreparedSchema>;

/**
 * Limits of a core under which no input and no output of these tools is refused for its size, and no output of a
 * command is dropped: a file of 4 MiB, escaped as JSON, in one message, and whatever a command prints at once.
 */
export const workspaceCoreLimits = Object.freeze({
  maxFrameBytes: 32 * 1024 * 1024,
  maxToolInputBytes: 30 * 1024 * 1024,
  maxToolOutputBytes: 30 * 1024 * 1024,
  maxStreamChunks: 65_536,
  maxStreamBytes: 16 * 1024 * 1024,
});

/** A tool as a model sees it. */
interface WorkspaceToolInfo {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of what a model writes, which `prepare` takes. A call takes what `prepare` returned, and `expected`. */
  readonly inputSchema: JsonObject;
  readonly effects: ToolEffects;
}

/** The tools as a model sees them. */
export const workspaceTools: readonly WorkspaceToolInfo[] = toolDeclarations.map(
  ({ name, description, effects, input }) => ({
    name,
    description,
    effects,
    inputSchema: z.toJSONSchema(input, { io: "input" }) as JsonObject,
  }),
);

/** The tool by which a host learns what became of the commands in the background of a conversation. */
export const endedCommandsToolName = "ended_commands";

/** What `ended_commands` returns: the commands that run, those that have ended, and those of whose end the conversation has heard before. */
export const EndedCommandsSchema = z.object({
  commands: z.array(
    z.object({
      id: z.string(),
      state: z.enum(["running", "ended", "told"]),
      exitCode: z.number().nullish(),
      signal: z.string().exactOptional(),
      stopped: z.literal(true).exactOptional(),
    }),
  ),
});
