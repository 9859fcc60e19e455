// The tools as an agent of the runtime protocol, to run in a process of its own or to call directly.

export { readAttachment } from "./read-attachment.ts";
export { findRipgrep } from "./ripgrep.ts";
export { createWorkspaceAgent, type WorkspaceAgentOptions } from "./workspace-agent.ts";
