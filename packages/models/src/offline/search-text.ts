import type { InstructionOf } from "./instruction.ts";
import { callOne, done, notDone, type Part } from "./part.ts";
import { codeBlock, inlineCode, plural } from "./report.ts";
import { toGrepValue } from "./tool-values.ts";

const maxShownMatches = 10;

/** Searches for a text, which is not a pattern: what `grep` would read as one is escaped. */
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

/** A text as a regular expression that matches exactly it. */
function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
