const opening = /^(\s*)(`{3,}|~{3,})\s*([^\s`]*)([^`]*)$/;

/**
 * The code fences of a Markdown text: `{ language, flags, code, line }`. `flags` are the words after the language,
 * `line` is the 1-based line of the code's first line, and the fence's own indentation is taken off the code.
 */
export function fencesOf(markdown) {
  const fences = [];
  let open;
  for (const [index, line] of markdown.split("\n").entries()) {
    if (open === undefined) {
      const match = opening.exec(line);
      if (match === null) continue;
      const [, indent, mark, language, flags] = match;
      open = {
        indent,
        mark,
        language,
        flags: flags.split(/\s+/).filter(Boolean),
        lines: [],
        line: index + 2,
      };
    } else if (line.trim() === open.mark) {
      const { indent, mark, lines, ...fence } = open;
      fences.push({ ...fence, code: `${lines.join("\n")}\n` });
      open = undefined;
    } else {
      open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line.trimStart());
    }
  }
  return fences;
}

/** The code fences inside the doc comments of TypeScript source, with its line numbers. */
export function docFencesOf(text) {
  const fences = [];
  for (const match of text.matchAll(/\/\*\*[\s\S]*?\*\//g)) {
    const before = text.slice(0, match.index).split("\n").length - 1;
    const comment = match[0]
      .slice(3, -2)
      .split("\n")
      .map((line) => line.replace(/^\s*\* ?/, ""))
      .join("\n");
    for (const fence of fencesOf(comment)) {
      fences.push({ ...fence, line: fence.line + before, code: fence.code.replaceAll("*\\/", "*/") });
    }
  }
  return fences;
}

/** The fences that hold TypeScript; `runs` is false for one marked `no-run`. */
export const typescriptFences = (fences) =>
  fences
    .filter(({ language }) => language === "ts" || language === "typescript")
    .map((fence) => ({ ...fence, runs: !fence.flags.includes("no-run") }));
