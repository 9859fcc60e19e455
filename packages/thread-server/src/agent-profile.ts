/** A named way for an agent to work; `turn.start` chooses one by its name. */
export interface AgentProfile {
  readonly name: string;
  /** Instructs the model about its task and its manners. */
  readonly systemPrompt: string;
  /** Names of the tools it may call. @default all */
  readonly tools?: readonly string[] | undefined;
  /** Model calls in one turn; then the turn ends with an error that says so. @default 50 */
  readonly maxSteps?: number | undefined;
}

/** The profile of a server that was given none. */
export const defaultAgent: AgentProfile = {
  name: "code",
  systemPrompt:
    "You are a coding agent. You work in one directory with the tools you are given. Look before you change, " +
    "say briefly what you do, and report honestly what failed or was refused.",
};
