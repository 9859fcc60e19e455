/** What an ACP agent does in a way of its own. */
export interface AcpAgentFacts {
  /**
   * Its permission requests for commands have no `rawInput`: the title is the command, and the first content begins with the directory in
   * brackets.
   */
  readonly commandInTitle?: true;
}

/** By the name in `agentInfo`. Run: Gemini CLI 0.61.0. */
const agents: Readonly<Record<string, AcpAgentFacts>> = { "gemini-cli": { commandInTitle: true } };

export const acpAgentFacts = (name: string | undefined): AcpAgentFacts =>
  name !== undefined && Object.hasOwn(agents, name) ? (agents[name] as AcpAgentFacts) : {};
