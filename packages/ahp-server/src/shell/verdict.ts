/** What a command does at worst, from harmless to worst. */
export type ShellVerdict = "read" | "write" | "unknown" | "exfiltration" | "privilege" | "destructive";

const order: readonly ShellVerdict[] = [
  "read",
  "write",
  "unknown",
  "exfiltration",
  "privilege",
  "destructive",
];

/** The severity of a verdict: 0 for `read`, 5 for `destructive`. What is not understood ranks above a write. */
export const verdictRank = (verdict: ShellVerdict): number => order.indexOf(verdict);

/** The more severe of two verdicts. */
export const worseVerdict = (a: ShellVerdict, b: ShellVerdict): ShellVerdict =>
  verdictRank(a) >= verdictRank(b) ? a : b;

/** Why a verdict is not `read`, or what is worth to be known of a command that only reads. */
export interface ShellReason {
  /** A stable word for programs: `recursive-delete`. */
  readonly code: string;
  /** A sentence for people. Holds names of programs and paths, never the value of a secret. */
  readonly text: string;
  /** What this reason alone amounts to. */
  readonly verdict: ShellVerdict;
  /** UTF-16 offset in the command; absent for what was found inside a nested text. */
  readonly at?: number;
}

/** A file that a command names. */
export interface ShellPath {
  /** Absolute where the working directory is known; patterns and `…` (an unknown part) stay in it. */
  readonly path: string;
  readonly access: "read" | "write";
  /** Whether it is, or may be, outside the workspace. */
  readonly outside: boolean;
  /** Whether it is, or may be, a file that holds secrets. */
  readonly secret: boolean;
}

/** What is known of a command before it runs. */
export interface ShellJudgement {
  /** The most severe of the reasons' verdicts; `read` without a reason. */
  readonly verdict: ShellVerdict;
  /** Most severe first. */
  readonly reasons: readonly ShellReason[];
  /** Names of the programs that it starts, wrappers and nested ones included, in order of appearance. */
  readonly programs: readonly string[];
  readonly paths: readonly ShellPath[];
  /** Whether it reads a secret file or the environment, or holds the text of a secret. */
  readonly secrets: boolean;
  /** Whether it speaks to another machine. */
  readonly network: boolean;
}
