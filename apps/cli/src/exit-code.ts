/** What a script learns from the end of a command. */
export const ExitCode = {
  done: 0,
  /** The work failed or was cancelled. */
  failed: 1,
  /** The command line cannot be used as it was written. */
  usage: 2,
  /** Something that the agent wanted was refused by a policy, the user or for want of credentials. */
  refused: 3,
  /** The server or the model cannot be reached. */
  unavailable: 4,
  /** Ctrl-C, or the reader of its output is gone. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
