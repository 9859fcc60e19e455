// For everybody: the tools behind the seam of the thread server.

export { defaultLimits, maxCommandTimeoutMs, type WorkspaceToolsLimits } from "./limits.ts";
export type { BashInput, BashOutput } from "./tools/bash.ts";
export type { EditInput, EditOutput } from "./tools/edit.ts";
export type { GlobInput, GlobOutput } from "./tools/glob.ts";
export type { GrepInput, GrepOutput } from "./tools/grep.ts";
export type { ReadInput, ReadOutput } from "./tools/read.ts";
export type { WriteInput, WriteOutput } from "./tools/write.ts";
export { createWorkspaceTools, type WorkspaceToolsOptions } from "./workspace-tools.ts";
