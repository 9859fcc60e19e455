import { judgeCommand } from "../judge-command.ts";
import type { CommandJudgement } from "../judgement.ts";
import { judgePath } from "../paths/judge-path.ts";
import { joinPath, type PathJudgement, type RealPath, worstOf } from "../paths/resolve-path.ts";
import { toJudgeLists } from "../places.ts";
import { changesFiles, type JudgedAction, ownOf } from "./changes-files.ts";

export interface CommandJudgeOptions {
  /** Absolute path of the agent's home folder; without it, `~` is outside the workspace. @default undefined */
  readonly home?: string | undefined;
  /** Where an absolute path leads without symbolic links, see `JudgedPlaces`. @default undefined: links are not looked at */
  readonly realPath?: RealPath | undefined;
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

const onlyReads = "it only reads: the policy knows every program and option in it";

const toMap = ({ verdict, reasons, programs, paths, secrets, network }: CommandJudgement) => ({
  verdict,
  why: reasons[0]?.text ?? (network ? "it only asks a service of this machine" : onlyReads),
  codes: reasons.map(({ code }) => code),
  programs,
  outside: paths.some(({ outside }) => outside),
  secret: secrets || paths.some(({ secret }) => secret),
  network,
});

const notACommand = (text: string) =>
  toMap({
    verdict: "unknown",
    reasons: [{ code: "not-a-command", text, verdict: "unknown" }],
    programs: [],
    readsCommands: [],
    paths: [],
    secrets: false,
    network: false,
  });

/** What the command in a tool's arguments would do, or why that cannot be judged. */
const judgeArguments = (
  args: unknown,
  { workspace, lists }: JudgeContext,
  options: CommandJudgeOptions,
): CommandJudgement | string => {
  const command = ownOf(args, "command");
  if (typeof command !== "string") return "the argument command is not a string";
  const cwd = ownOf(args, "cwd") ?? ".";
  const directory = typeof cwd === "string" ? joinPath(workspace, cwd) : undefined;
  if (directory === undefined) return "the argument cwd is not a path";
  const places = { ...options, workspace, directory, lists: toJudgeLists(lists) };
  return judgeCommand(command, places);
};

/** `command(map): map`: what the command in a tool's arguments would do. */
const commandFunction = (options: CommandJudgeOptions): JudgeFunction => ({
  signature: "command(map): map",
  call([args], context) {
    const judged = judgeArguments(args, context, options);
    return typeof judged === "string" ? notACommand(judged) : toMap(judged);
  },
});

/** `readsCommands(map): string`: the program of a command that reads further commands from its input; empty without one. */
const readsCommandsFunction = (options: CommandJudgeOptions): JudgeFunction => ({
  signature: "readsCommands(map): string",
  call([args], context) {
    const judged = judgeArguments(args, context, options);
    return typeof judged === "string" ? "" : (judged.readsCommands[0] ?? "");
  },
});

/** Arguments that are globs below `path`, by the tool that has them; the pattern of another tool may be anything. */
const globsOf: Readonly<Record<string, readonly string[]>> = { glob: ["pattern"], grep: ["include"] };

const below = (path: string, glob: string): string =>
  path === "" || glob.startsWith("/") || glob.startsWith("~") ? glob : `${path}/${glob}`;

/** The paths and globs that a tool's arguments name; undefined where they cannot be read. */
const pathsOf = (args: unknown, tool: unknown): readonly string[] | undefined => {
  const globs = typeof tool === "string" && Object.hasOwn(globsOf, tool) ? globsOf[tool] : undefined;
  const path = ownOf(args, "path") ?? (globs ? "." : undefined);
  if (typeof path !== "string" || path === "") return undefined;
  const found = [path];
  for (const key of globs ?? []) {
    const glob = ownOf(args, key);
    if (typeof glob === "string") found.push(below(path, glob));
    else if (glob !== undefined) return undefined;
  }
  return found;
};

const whyOf = (judged: readonly PathJudgement[]): string => {
  const secret = judged.find((one) => one.secret);
  if (secret) return `${secret.path} may hold secrets`;
  const outside = judged.find((one) => one.outside);
  if (outside?.target !== undefined)
    return `${outside.path}, which leads to ${outside.target}, is outside the workspace`;
  if (outside) return `${outside.path} is outside the workspace`;
  return judged.some(({ unknown }) => unknown)
    ? "the policy cannot tell where the path leads"
    : "inside the workspace";
};

const judgeFiles = (
  args: unknown,
  { event, workspace, lists }: JudgeContext,
  options: CommandJudgeOptions,
) => {
  const paths = pathsOf(args, ownOf(event.payload, "tool_name"));
  if (!paths) return { outside: true, secret: false, unknown: true, why: "the arguments name no path" };
  const places = { ...options, workspace, lists: toJudgeLists(lists) };
  const judged = paths.map((path) => judgePath(path, places));
  const { outside, secret, unknown } = worstOf(judged);
  return { outside, secret, unknown, why: whyOf(judged) };
};

/** `files(map): map`: where the `path` of a tool's arguments leads, and the pattern of glob and the include of grep. */
const filesFunction = (options: CommandJudgeOptions): JudgeFunction => ({
  signature: "files(map): map",
  call: ([args], call) => judgeFiles(args, call, options),
});

/**
 * The judge as options of a policy engine, such as `loadPolicy(file, commandJudge({ home, realPath }))`:
 * - the function `command(args)` judges the shell command in a tool's `command` (and `cwd`): `verdict`, `why`, `codes`,
 *   `programs`, `outside`, `secret`, `network`;
 * - the function `readsCommands(args)` names the program in it that reads further commands from its input, such as `bash` without
 *   a script; "" where there is none;
 * - the function `files(args)` says where a tool's `path` leads, and the pattern of glob and the include of grep:
 *   `outside`, `secret`, `unknown`, `why`;
 * - `changesFiles` says whether an action may change some files.
 */
export const commandJudge = (options: CommandJudgeOptions = {}): CommandJudge => ({
  functions: [commandFunction(options), readsCommandsFunction(options), filesFunction(options)],
  changesFiles: (action, files) => changesFiles(action, files, options.realPath),
});

export type { JudgedAction };
