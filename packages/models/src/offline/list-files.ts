import type { InstructionOf } from "./instruction.ts";
import { callOne, done, notDone, type Part } from "./part.ts";
import { codeBlock, inlineCode, plural } from "./report.ts";
import { toGlobValue } from "./tool-values.ts";

/** Lists a directory: its files, and its subdirectories with the number of files below each. */
export function* listFiles({ directory }: InstructionOf<"list">): Part {
  const place = directory === undefined ? "the workspace" : inlineCode(directory);
  const input = directory === undefined ? { pattern: "**/*" } : { pattern: "**/*", path: directory };
  const outcome = yield* callOne(`I list the files in ${place}.`, { tool: "glob", input });
  if (outcome.status !== "ok") return notDone("glob", `listing the files in ${place}`, outcome);
  const { paths, truncated } = toGlobValue(outcome.value);
  if (paths.length === 0) return done(`There are no files in ${place}.`);
  const verb = paths.length === 1 ? "is" : "are";
  const count = `${verb} ${truncated ? "at least " : ""}${plural(paths.length, "file")}`;
  const entries = topLevelEntries(paths, directory);
  return done(
    `There ${count} in ${place}:\n${codeBlock(entries.join("\n"), { keep: "start", maxLines: 60 })}`,
  );
}

/** Directories first. A tool may give paths relative to the workspace or to the directory it was asked about. */
function topLevelEntries(paths: readonly string[], directory: string | undefined): string[] {
  const prefix = directory === undefined ? "" : `${directory.replace(/^\.\/|\/+$/g, "")}/`;
  const inside = paths.every((path) => path.startsWith(prefix)) ? prefix.length : 0;
  const counts = new Map<string, number>();
  const files: string[] = [];
  for (const path of paths) {
    const below = path.slice(inside);
    const slash = below.indexOf("/");
    if (slash > 0) counts.set(below.slice(0, slash), (counts.get(below.slice(0, slash)) ?? 0) + 1);
    else files.push(below);
  }
  return [...[...counts].map(([name, count]) => `${name}/  (${plural(count, "file")})`), ...files];
}
