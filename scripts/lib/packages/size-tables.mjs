import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../root.mjs";

const page = join(repositoryRoot, "docs/sizes.md");
/** What a figure may grow by before the check fails, and how much less than stated it may be. */
const tolerance = 0.05;
const slackKilobytes = 1;

const kilobytes = (bytes) => Math.ceil(bytes / 1000);
const row = (name, cells) => `| \`${name}\` | ${cells.join(" | ")} |`;

const between = (text, mark) => {
  const [start, end] = [`<!-- ${mark} -->`, `<!-- end of ${mark} -->`];
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/sizes.md has no ${start} … ${end}`);
  return {
    before: text.slice(0, from + start.length),
    inside: text.slice(from + start.length, to),
    after: text.slice(to),
  };
};

const rowsOf = (text) =>
  Object.fromEntries(
    Array.from(
      text.matchAll(/^\| `([^`]+)` \| ([\d,]+)(?: \| ([\d,]+))? \|$/gm),
      ([, name, first, second]) => [
        name,
        [first, second].filter((cell) => cell !== undefined).map((cell) => Number(cell.replaceAll(",", ""))),
      ],
    ),
  );

const differs = (now, stated) =>
  now > stated * (1 + tolerance) + slackKilobytes || now < stated * (1 - 2 * tolerance) - 2 * slackKilobytes;

function problemsOf(title, unit, stated, measured) {
  const names = [...new Set([...Object.keys(stated), ...Object.keys(measured)])];
  return names.flatMap((name) => {
    const [was] = stated[name] ?? [];
    const [is] = measured[name] ?? [];
    if (was !== undefined && is !== undefined && !differs(is, was)) return [];
    return [
      `docs/sizes.md: ${title} of ${name} is ${is ?? "not measured"}, not ${was ?? "in the table"} ${unit}. If that is meant: node scripts/check-packages.mjs --write-sizes`,
    ];
  });
}

/**
 * Compares what was measured with the tables of docs/sizes.md: `installed` is `{ bytes, packages }` by package, `bundles` are bytes
 * by specifier. Returns findings; with `write` it writes the tables instead.
 */
export function checkSizes({ installed, bundles }, { write }) {
  const text = readFileSync(page, "utf8");
  const install = Object.fromEntries(
    Object.entries(installed).map(([name, { bytes, packages }]) => [name, [kilobytes(bytes), packages]]),
  );
  const bundle = Object.fromEntries(
    Object.entries(bundles).map(([name, bytes]) => [name, [kilobytes(bytes)]]),
  );
  if (!write) {
    const stated = (mark) => rowsOf(between(text, mark).inside);
    return [
      ...problemsOf("the installed size", "kB", stated("installed"), install),
      ...problemsOf("the bundle", "kB gzipped", stated("bundles"), bundle),
    ];
  }
  const table = (head, figures) =>
    `\n\n| ${head.join(" | ")} |\n|${" --- |".repeat(head.length)}\n${Object.entries(figures)
      .sort(([a], [b]) => a.localeCompare(b, "en"))
      .map(([name, cells]) =>
        row(
          name,
          cells.map((cell) => cell.toLocaleString("en")),
        ),
      )
      .join("\n")}\n\n`;
  let written = text;
  for (const [mark, head, figures] of [
    ["installed", ["package", "installed, kB", "packages"], install],
    ["bundles", ["entry", "minified and gzipped, kB"], bundle],
  ]) {
    const { before, after } = between(written, mark);
    written = before + table(head, figures) + after;
  }
  writeFileSync(page, written);
  return [];
}
