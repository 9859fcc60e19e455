/** What an ACP agent does in a way of its own. */
export interface AcpAgentFacts {
  /**
   * Its permission requests for commands have no `rawInput`: the title is the command, and the first content begins with the directory in
   * brackets.
   */
  readonly commandInTitle?: true;
  /**
   * The settings of a session with which it asks before it acts, by the ids of the settings; `mode` is that of `session/set_mode`. The first
   * value of each is the one to set; with the others it asks as well, or acts less.
   */
  readonly asking?: Readonly<Record<string, readonly [string, ...string[]]>>;
  /** What it does without asking also then, and what its user can do about that. */
  readonly gap?: string;
}

const copilotMode = (mode: string): string =>
  `https://agentclientprotocol.com/protocol/session-modes#${mode}`;
const codexGap = "it asks only for what its sandbox forbids; what stays inside of that runs unasked";

/** By the name in `agentInfo`, as each was run: what is not here is not claimed. */
const agents: Readonly<Record<string, AcpAgentFacts>> = {
  // 0.101.0 starts in "auto", and asks nothing there.
  "@agentclientprotocol/claude-agent-acp": { asking: { mode: ["default", "plan"] } },
  // 0.16.0 starts in "read-only".
  "codex-acp": { asking: { mode: ["read-only"] }, gap: codexGap },
  // 2.6.0 starts in "agent".
  "@agentclientprotocol/codex-acp": { asking: { mode: ["read-only"] }, gap: codexGap },
  // 1.0.102
  Copilot: { asking: { mode: [copilotMode("agent"), copilotMode("plan")], allow_all: ["off"] } },
  // 1.18.33 has no such setting.
  OpenCode: {
    gap: `start it with OPENCODE_PERMISSION='{"edit":"ask","bash":"ask","webfetch":"ask","task":"ask"}', or the same as "permission" in its opencode.json`,
  },
  // 0.61.0
  "gemini-cli": { commandInTitle: true, asking: { mode: ["default", "plan"] } },
};

export const acpAgentFacts = (name: string | undefined): AcpAgentFacts =>
  name !== undefined && Object.hasOwn(agents, name) ? (agents[name] as AcpAgentFacts) : {};
