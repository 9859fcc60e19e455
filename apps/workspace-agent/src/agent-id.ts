/** The id of the agent, as its manifest has it: the part of its tools' ids before the slash. */
export const workspaceAgentId = "harnesskit.workspace";
