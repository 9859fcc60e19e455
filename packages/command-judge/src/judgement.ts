/** What a command does at worst, from harmless to worst. */
export type CommandVerdict =
  | "read"
  | "write"
  | "network"
  | "execute"
  | "unknown"
  | "exfiltration"
  | "privilege"
  | "destructive";

const order: readonly CommandVerdict[] = [
  "read",
  "write",
  "network",
  "execute",
  "unknown",
  "exfiltration",
  "privilege",
  "destructive",
];

/** The severity of a verdict: 0 for `read`, 7 for `destructive`. What is not known ranks below what is known to be bad. */
export const verdictRank = (verdict: CommandVerdict): number => order.indexOf(verdict);

/** Why a verdict is not `read`, or what is worth knowing about a command that only reads. */
export interface CommandReason {
  /** A stable word for programs: `recursive-delete`. */
  readonly code: string;
  /** A sentence with the words of the command that caused it, safe to show: no secrets, no invisible characters. */
  readonly text: string;
  /** What this reason alone amounts to. */
  readonly verdict: CommandVerdict;
}

/** A file or folder that a command names. */
export interface CommandPath {
  /** Absolute where the working directory is known; patterns and `…` (an unknown part) stay in it. */
  readonly path: string;
  /** `list`: names and attributes alone; `tree`: the content of every file below it. */
  readonly access: "list" | "read" | "tree" | "write";
  /** Whether it is, or may be, outside the workspace. */
  readonly outside: boolean;
  /** Whether it is, or may be, a file that holds secrets. */
  readonly secret: boolean;
  /** Where symbolic links lead, where that is another path and is looked at. */
  readonly target?: string | undefined;
}

/** What is known of a command before it runs. */
export interface CommandJudgement {
  /** The most severe of the reasons' verdicts. `read` holds only if every program, option and word is known. */
  readonly verdict: CommandVerdict;
  /** Most severe first. */
  readonly reasons: readonly CommandReason[];
  /** Names of the programs that it starts, wrappers and nested ones included, in order of appearance. */
  readonly programs: readonly string[];
  /** Those of them that read commands from their input, where that is not in the command: it is typed or piped into them later. */
  readonly readsCommands: readonly string[];
  readonly paths: readonly CommandPath[];
  /** Whether it reads a secret file or the environment, or contains a secret. */
  readonly secrets: boolean;
  /** Whether it connects to a service or to another machine. */
  readonly network: boolean;
}
