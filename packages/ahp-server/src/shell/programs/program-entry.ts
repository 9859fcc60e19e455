import type { Program } from "../call.ts";

/** What is known of a program. */
export interface ProgramEntry {
  readonly judge: Program;
  /** Whether it speaks to other machines by its nature, so that its arguments leave this one. */
  readonly network?: boolean;
  /** Whether its only argument may be a program rather than `--help`. */
  readonly transparent?: boolean;
}

/** One entry for many names, which are written with spaces between. */
export const entries = (
  names: string,
  judge: Program,
  more: Omit<ProgramEntry, "judge"> = {},
): readonly (readonly [string, ProgramEntry])[] =>
  names.split(/\s+/).map((name) => [name, { judge, ...more }]);
