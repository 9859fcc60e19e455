import { type ResolvedAgent, resolveAgents } from "./resolve-agents.ts";
import { workspaceAgent } from "./workspace-agent.ts";

/** Checks the values of `--agents` without starting anything, and returns the agents of this machine. Rejects like `openAgentCore`, cores of sockets aside. */
export const checkAgents = (
  specs: readonly string[],
  installed: readonly ResolvedAgent[],
): Promise<readonly ResolvedAgent[]> => resolveAgents(splitSpecs(specs)[1], [workspaceAgent(), ...installed]);

/** Sockets of cores, and agents that run here. */
export const splitSpecs = (specs: readonly string[]): [sockets: string[], agents: string[]] => {
  const isSocket = (spec: string) => spec.startsWith("unix:");
  return [specs.filter(isSocket), specs.filter((spec) => !isSocket(spec))];
};
