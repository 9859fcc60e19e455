import { callOne, done, notDone, type Part, type PartResult } from "./part.ts";
import { codeBlock, codeList, inlineCode, plural } from "./report.ts";
import { countIn, toGlobValue, toGrepValue, toReadValue } from "./tool-values.ts";
import type { InstructionOf } from "./verbs.ts";

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

/**
 * Reads a file. One that is not there is looked for by its name, and read if exactly one has it, in the whole
 * workspace or at its top.
 */
export function* readFile({ path }: InstructionOf<"read">): Part {
  const first = yield* callOne(`I read ${inlineCode(path)}.`, { tool: "read", input: { path } });
  if (first.status === "ok") return showFile(path, first.value);
  const failure = notDone("read", `reading ${inlineCode(path)}`, first);
  const name = path.split(/[/\\]/).at(-1) ?? "";
  // A name with pattern characters would look for something else.
  if (first.notFound !== true || name === "" || /[*?[\]{}()!+@|\\]/.test(name)) return failure;

  const lookUp = yield* callOne(`${inlineCode(path)} is not there; I look for a file of that name.`, {
    tool: "glob",
    input: { pattern: `**/${name}*` },
  });
  if (lookUp.status !== "ok") {
    const second = notDone("glob", `looking for ${inlineCode(name)}`, lookUp);
    return { ...second, report: `${failure.report}\n${second.report}` };
  }
  const candidates = toGlobValue(lookUp.value).paths.filter(
    (found) => found !== path && hasName(found, name),
  );
  const top = candidates.filter((found) => !found.includes("/"));
  const only = candidates.length === 1 ? candidates[0] : top.length === 1 ? top[0] : undefined;
  if (only === undefined) {
    const others =
      candidates.length === 0
        ? "No other file has that name."
        : `${plural(candidates.length, "file")} could be meant: ${codeList(candidates, 10)}. Ask for one of them.`;
    return { ...failure, report: `${failure.report}\n${others}` };
  }
  const second = yield* callOne(`I found ${inlineCode(only)} and read it.`, {
    tool: "read",
    input: { path: only },
  });
  if (second.status !== "ok") return notDone("read", `reading ${inlineCode(only)}`, second);
  const result = showFile(only, second.value);
  return {
    ...result,
    report: `${inlineCode(path)} is not there, so I read the one I found. ${result.report}`,
  };
}

/** The same name, in any case, with or without an ending: `readme` is `README.md`. */
function hasName(path: string, name: string): boolean {
  const found = (path.split("/").at(-1) ?? "").toLowerCase();
  const wanted = name.toLowerCase();
  return found === wanted || (!wanted.includes(".") && found.startsWith(`${wanted}.`));
}

function showFile(path: string, value: unknown): PartResult {
  const { text, totalLines, truncated } = toReadValue(value);
  if (text === "") return done(`${inlineCode(path)} came back empty.`);
  const size = `${plural(totalLines, "line")}${truncated ? ", of which the tool gave only a part" : ""}`;
  return done(`${inlineCode(path)} has ${size}:\n${codeBlock(text, { keep: "start" })}`);
}

/** Replaces a string in a file. A file that is not there is not looked for elsewhere: a guess would change another. */
export function* editFile({ path, oldText, newText }: InstructionOf<"edit">): Part {
  const change = `${inlineCode(oldText)} with ${inlineCode(newText)}`;
  const outcome = yield* callOne(`I edit ${inlineCode(path)}: I replace ${change}.`, {
    tool: "edit",
    input: { path, oldText, newText },
  });
  if (outcome.status !== "ok") return notDone("edit", `editing ${inlineCode(path)}`, outcome);
  const replacements = countIn(outcome.value, "replacements");
  const count = replacements === undefined ? "" : ` (${plural(replacements, "replacement")})`;
  return done(`In ${inlineCode(path)} I replaced ${change}${count}.`);
}

/** Writes a file. */
export function* writeFile({ path, content }: InstructionOf<"write">): Part {
  const outcome = yield* callOne(`I write ${inlineCode(path)}.`, { tool: "write", input: { path, content } });
  if (outcome.status !== "ok") return notDone("write", `writing ${inlineCode(path)}`, outcome);
  const bytes = countIn(outcome.value, "bytes");
  return done(`I wrote ${inlineCode(path)}${bytes === undefined ? "" : ` (${plural(bytes, "byte")})`}.`);
}

const maxShownMatches = 10;

/** Searches for a string: the special characters of a pattern are escaped. */
export function* searchText({ text, directory }: InstructionOf<"search">): Part {
  const place = directory === undefined ? "the workspace" : inlineCode(directory);
  const pattern = escapePattern(text);
  const outcome = yield* callOne(`I search for ${inlineCode(text)} in ${place}.`, {
    tool: "grep",
    input: directory === undefined ? { pattern } : { pattern, path: directory },
  });
  if (outcome.status !== "ok") return notDone("grep", `searching for ${inlineCode(text)}`, outcome);
  const { matches, truncated } = toGrepValue(outcome.value);
  if (matches.length === 0) return done(`${inlineCode(text)} is not found in ${place}.`);
  const files = new Set(matches.map((match) => match.path)).size;
  const count = `${truncated ? "at least " : ""}${plural(matches.length, "match")} in ${plural(files, "file")}`;
  const first = matches.slice(0, maxShownMatches).map((match) => {
    const where = match.line === undefined ? match.path : `${match.path}:${match.line}`;
    return `${where}: ${match.text.trim()}`.replaceAll(/[\r\n]+/g, " ");
  });
  const which = matches.length > maxShownMatches ? `, the first ${maxShownMatches}` : "";
  return done(`${inlineCode(text)} has ${count}${which}:\n${codeBlock(first.join("\n"), { keep: "start" })}`);
}

/** A regular expression that matches exactly this string. */
function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
