/** The target of an escalation by which a policy lets the agent ask its own user, where it can. */
export const terminalTarget = "terminal";
