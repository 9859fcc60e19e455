import { judgePath, type PathJudgement } from "../paths/judge-path.ts";
import type { JudgeContext, JudgeFunction } from "./command-judge.ts";
import { toJudgeLists } from "./judge-lists.ts";
import { ownOf } from "./own-of.ts";

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
  if (outside) return `${outside.path} is outside the workspace`;
  return judged.some(({ unknown }) => unknown)
    ? "it is not known where the path leads"
    : "inside the workspace";
};

const judge = (args: unknown, { event, workspace, lists }: JudgeContext, home: string | undefined) => {
  const paths = pathsOf(args, ownOf(event.payload, "tool_name"));
  if (!paths) return { outside: true, secret: false, unknown: true, why: "there is no path" };
  const places = { workspace, lists: toJudgeLists(lists), ...(home !== undefined && { home }) };
  const judged = paths.map((path) => judgePath(path, places));
  return {
    outside: judged.some(({ outside }) => outside),
    secret: judged.some(({ secret }) => secret),
    unknown: judged.some(({ unknown }) => unknown),
    why: whyOf(judged),
  };
};

/** `files(map): map`: where the `path` of a tool's arguments leads, and the pattern of glob and the include of grep. */
export const filesFunction = (home: string | undefined): JudgeFunction => ({
  signature: "files(map): map",
  call: ([args], call) => judge(args, call, home),
});
