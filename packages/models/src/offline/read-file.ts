import type { InstructionOf } from "./instruction.ts";
import { callOne, done, notDone, type Part, type PartResult } from "./part.ts";
import { codeBlock, codeList, inlineCode, plural } from "./report.ts";
import { toGlobValue, toReadValue } from "./tool-values.ts";

/**
 * Reads a file. One that is not there is looked for by its name, and read if exactly one has it, in the whole
 * workspace or at its top.
 */
export function* readFile({ path }: InstructionOf<"read">): Part {
  const first = yield* callOne(`I read ${inlineCode(path)}.`, { tool: "read", input: { path } });
  if (first.status === "ok") return shown(path, first.value);
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
  const result = shown(only, second.value);
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

function shown(path: string, value: unknown): PartResult {
  const { text, totalLines, truncated } = toReadValue(value);
  if (text === "") return done(`${inlineCode(path)} came back empty.`);
  const size = `${plural(totalLines, "line")}${truncated ? ", of which the tool gave only a part" : ""}`;
  return done(`${inlineCode(path)} has ${size}:\n${codeBlock(text, { keep: "start" })}`);
}
