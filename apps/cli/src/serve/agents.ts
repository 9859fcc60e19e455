import { type AgentProfile, defaultAgent } from "@harnesskit/thread-server";

/** Reads and answers; nothing that changes anything is within its reach. */
const askAgent: AgentProfile = {
  name: "ask",
  systemPrompt:
    "You answer questions about the files of one directory. You can read and search, and you cannot change anything. " +
    "Look before you answer, and name the files that your answer rests on.",
  tools: ["read", "glob", "grep"],
};

/** The profiles of the harness, the default first. */
export const agents: readonly [AgentProfile, ...AgentProfile[]] = [defaultAgent, askAgent];
