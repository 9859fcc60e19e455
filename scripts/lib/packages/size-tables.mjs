import { join } from "node:path";
import { readMarked, toTable, writeMarked } from "../marked-table.mjs";
import { repositoryRoot } from "../root.mjs";

const page = join(repositoryRoot, "docs/sizes.md");
/** What a figure may grow by before a check fails: a part of it, and kB beside that. */
const tolerance = 0.05;
const slack = 1;

const rowsOf = (text) =>
  Object.fromEntries(
    Array.from(text.matchAll(/^\| `([^`]+)` \| ([\d,| ]+) \|$/gm), ([, name, cells]) => [
      name,
      cells.split(" | ").map((cell) => Number(cell.replaceAll(",", ""))),
    ]),
  );

/** Growth, or so much less that the table would let it grow unnoticed. */
const differs = (now, stated) =>
  now > stated * (1 + tolerance) + slack || now < stated * (1 - 2 * tolerance) - 2 * slack;

/**
 * Compares figures with a table of docs/sizes.md: `mark` names the table, `head` its columns, `rows` has the figures by name. Returns
 * findings, which name the command that `writes` the table.
 */
export function compareTable({ mark, head, rows }, unit, writes) {
  const stated = rowsOf(readMarked(page, mark));
  const names = [...new Set([...Object.keys(stated), ...Object.keys(rows)])];
  return names.flatMap((name) => {
    if (rows[name] === undefined || stated[name] === undefined)
      return [
        `docs/sizes.md: ${name} is ${rows[name] === undefined ? "measured no longer" : "not in the table"} (${mark}): ${writes}`,
      ];
    return rows[name].flatMap((now, index) =>
      differs(now, stated[name][index])
        ? [
            `docs/sizes.md: ${name}, ${head[index + 1]}: ${now} ${unit}, and ${stated[name][index]} in the table. If that is meant: ${writes}`,
          ]
        : [],
    );
  });
}

/** Writes a table of docs/sizes.md; arguments as of {@link compareTable}. */
export function writeTable({ mark, head, rows }) {
  const lines = Object.entries(rows)
    .sort(([a], [b]) => a.localeCompare(b, "en"))
    .map(([name, cells]) => [`\`${name}\``, ...cells.map((cell) => cell.toLocaleString("en"))]);
  writeMarked(page, mark, toTable(head, lines));
}
