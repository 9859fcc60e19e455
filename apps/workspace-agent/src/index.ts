// The tools as an agent of the runtime protocol, to run in a process of its own or to call directly.

export type {
  BashInput,
  EditInput,
  GlobInput,
  GrepInput,
  Prepared,
  ReadInput,
  WriteInput,
} from "./declarations.ts";
export type { WorkspaceToolsLimits } from "./limits.ts";
export { readAttachment } from "./read-attachment.ts";
export { findRipgrep } from "./ripgrep.ts";
export type { BashOutput } from "./tools/bash.ts";
export type { EditOutput } from "./tools/edit.ts";
export type { GlobOutput } from "./tools/glob.ts";
export type { GrepOutput } from "./tools/grep.ts";
export type { ReadOutput } from "./tools/read.ts";
export type { WriteOutput } from "./tools/write.ts";
export { createWorkspaceAgent, type WorkspaceAgentOptions } from "./workspace-agent.ts";
