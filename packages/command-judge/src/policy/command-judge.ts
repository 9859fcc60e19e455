import { changesFiles, type JudgedAction } from "./changes-files.ts";
import { commandFunction } from "./command-function.ts";
import { filesFunction } from "./files-function.ts";

export interface CommandJudgeOptions {
  /** Absolute path of the agent's home folder; without it, `~` is outside the workspace. @default undefined */
  readonly home?: string;
}

/** What a function of a policy gets beside its arguments. */
export interface JudgeContext {
  readonly event: { readonly payload?: unknown };
  /** Absolute path of the folder in which the agent works; empty where none is known. */
  readonly workspace: string;
  /** `read_programs`, `write_programs`, `secret_paths` and `allowed_paths` add to the tables. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
}

/** A function for the expressions of a policy. */
export interface JudgeFunction {
  readonly signature: string;
  readonly call: (args: readonly unknown[], context: JudgeContext) => unknown;
}

/** What a policy engine is given to judge commands and paths. */
export interface CommandJudge {
  readonly functions: readonly JudgeFunction[];
  readonly changesFiles: (action: JudgedAction, files: readonly string[]) => boolean;
}

/**
 * The judge as options of a policy engine, such as `loadPolicy(file, commandJudge({ home }))`:
 * - the function `command(args)` judges the shell command in a tool's `command` (and `cwd`): `verdict`, `why`, `codes`,
 *   `programs`, `outside`, `secret`, `network`;
 * - the function `files(args)` says where a tool's `path` leads, and the pattern of glob and the include of grep:
 *   `outside`, `secret`, `unknown`, `why`;
 * - `changesFiles` says whether an action may change some files.
 */
export const commandJudge = ({ home }: CommandJudgeOptions = {}): CommandJudge => ({
  functions: [commandFunction(home), filesFunction(home)],
  changesFiles,
});

export type { JudgedAction };
