import { defineLimits, type LimitsOf } from "@harnesskit/wire";

/** What an agent that is installed may hold. */
export const agentTreeLimits = defineLimits({
  /** Files and links. */
  maxFiles: 5000,
  /** Bytes of all files. */
  maxBytes: 64 * 1024 * 1024,
  /** Bytes of an archive as it was packed. */
  maxArchiveBytes: 64 * 1024 * 1024,
  /** Characters of a path inside of the agent. */
  maxPathLength: 512,
  /** How deep directories nest. */
  maxDepth: 32,
  /** Agents that are installed. */
  maxAgents: 256,
});

export type AgentTreeLimits = LimitsOf<typeof agentTreeLimits>;
