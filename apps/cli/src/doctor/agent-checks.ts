import { readEnabledAgents } from "../agents/enabled-agents.ts";
import { oneLine } from "../terminal/text.ts";
import { type Finding, ok, problem } from "./checks.ts";

/** Whether the agents that are enabled are as they were then; nothing where none is. */
export const checkAgents = async (): Promise<Finding[]> => {
  const leftOut: string[] = [];
  const enabled = await readEnabledAgents((line) => leftOut.push(line));
  const names = enabled.map(({ agentId }) => oneLine(agentId, 200)).join(", ");
  return [
    ...(enabled.length === 0 ? [] : [ok("agents", `enabled: ${names}`)]),
    ...leftOut.map((line) => problem("agents", line, "See what is installed: harness agents list")),
  ];
};
