// For everybody: the tools as an agent of the runtime protocol, to run in a process of its own or to call directly.

export type { BashInput } from "./declarations/bash.ts";
export type { EditInput } from "./declarations/edit.ts";
export type { GlobInput } from "./declarations/glob.ts";
export type { GrepInput } from "./declarations/grep.ts";
export type { Prepared } from "./declarations/prepare.ts";
export type { ReadInput } from "./declarations/read.ts";
export type { WriteInput } from "./declarations/write.ts";
export { defaultLimits, maxCommandTimeoutMs, type WorkspaceToolsLimits } from "./limits.ts";
export { readAttachment } from "./read-attachment.ts";
export { findRipgrep } from "./ripgrep-path.ts";
export type { BashOutput } from "./tools/bash.ts";
export type { EditOutput } from "./tools/edit.ts";
export type { GlobOutput } from "./tools/glob.ts";
export type { GrepOutput } from "./tools/grep.ts";
export type { ReadOutput } from "./tools/read.ts";
export type { WriteOutput } from "./tools/write.ts";
export { createWorkspaceAgent, type WorkspaceAgentOptions } from "./workspace-agent.ts";
