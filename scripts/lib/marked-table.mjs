import { readFileSync, writeFileSync } from "node:fs";

/** Rows of strings or numbers as a table in Markdown, under `head`. */
export const toTable = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

function partsOf(file, mark) {
  const text = readFileSync(file, "utf8");
  const [start, end] = [`<!-- ${mark} -->`, `<!-- end of ${mark} -->`];
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`${file} has no ${start} … ${end}`);
  const begin = from + start.length;
  return { before: text.slice(0, begin), after: text.slice(to) };
}

/** Writes `text` between `<!-- MARK -->` and `<!-- end of MARK -->` of a Markdown file, in place of what was there. */
export function writeMarked(file, mark, text) {
  const { before, after } = partsOf(file, mark);
  writeFileSync(file, `${before}\n\n${text}\n\n${after}`);
}
