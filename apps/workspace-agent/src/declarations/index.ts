import type { JsonObject } from "@harnesskit/protocol/envelope";
import * as z from "zod";
import type { ToolEffects } from "../effects.ts";
import { bashDeclaration } from "./bash.ts";
import type { ToolDeclaration } from "./declare-tool.ts";
import { editDeclaration } from "./edit.ts";
import { globDeclaration } from "./glob.ts";
import { grepDeclaration } from "./grep.ts";
import { readDeclaration } from "./read.ts";
import { writeDeclaration } from "./write.ts";

// For a program that offers the tools and calls them over a core: what it shows and checks, without the tools' code.

export { workspaceAgentId } from "../agent-id.ts";
export type { ToolEffects } from "../effects.ts";
export type { Expected } from "../expected.ts";
export { type Prepared, PreparedSchema, prepareToolName } from "./prepare.ts";

/**
 * Limits of a core under which no input and no output of these tools is refused for its size, and nothing that a
 * command prints is dropped: a file of 4 MiB, escaped as JSON, in one message, and whatever a command prints at once.
 */
export const workspaceCoreLimits = Object.freeze({
  maxFrameBytes: 32 * 1024 * 1024,
  maxToolInputBytes: 30 * 1024 * 1024,
  maxToolOutputBytes: 30 * 1024 * 1024,
  maxStreamChunks: 65_536,
  maxStreamBytes: 16 * 1024 * 1024,
});

/** A tool as a model is told of it. */
export interface WorkspaceToolInfo {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of what a model writes: `prepare` takes it. A call takes what `prepare` made of it, and `expected`. */
  readonly inputSchema: JsonObject;
  readonly effects: ToolEffects;
}

const toInfo = ({ name, description, effects, input }: ToolDeclaration): WorkspaceToolInfo => ({
  name,
  description,
  effects,
  inputSchema: z.toJSONSchema(input, { io: "input" }) as JsonObject,
});

/** bash, read, write, edit, glob and grep, as a model is told of them. */
export const workspaceTools: readonly WorkspaceToolInfo[] = [
  bashDeclaration,
  readDeclaration,
  writeDeclaration,
  editDeclaration,
  globDeclaration,
  grepDeclaration,
].map(toInfo);
