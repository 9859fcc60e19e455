import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { toTable, writeMarked } from "../../scripts/lib/marked-table.mjs";

/** What the machine did beside, before this process measured. */
const load = Number(loadavg()[0].toFixed(1));
const width = 720;
const bar = { height: 26, gap: 12, left: 170, right: 150 };
const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const safe = (text) => text.replace(/[&<>]/g, (sign) => escapes[sign]);

/** Draws `rows`, `{ name, value, isOurs }`, as horizontal bars; more is better. The colours fit light and dark pages. */
const drawing = ({ title, unit, note, node, rows }) => {
  const most = Math.max(...rows.map(({ value }) => value));
  const top = 64;
  const height = top + rows.length * (bar.height + bar.gap) + 8;
  const bars = rows.map(({ name: row, value, isOurs }, index) => {
    const y = top + index * (bar.height + bar.gap);
    const length = ((width - bar.left - bar.right) * value) / most;
    const figure = `${Math.round(value).toLocaleString("en")} ${unit}`;
    return (
      `<text x="${bar.left - 10}" y="${y + 18}" text-anchor="end"${isOurs ? ' font-weight="bold"' : ""}>${safe(row)}</text>` +
      `<rect x="${bar.left}" y="${y}" width="${length.toFixed(1)}" height="${bar.height}" rx="3" fill="${isOurs ? "#0969da" : "#8c959f"}"/>` +
      `<text x="${(bar.left + length + 8).toFixed(1)}" y="${y + 18}">${safe(figure)}</text>`
    );
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${safe(title)}">` +
    `<title>${safe(title)}</title><style>text{font:14px system-ui,sans-serif;fill:#59636e}.title{font-weight:600}` +
    "@media(prefers-color-scheme:dark){text{fill:#b1bac4}}</style>" +
    `<text class="title" x="0" y="20">${safe(title)}</text><text x="0" y="42">${safe(note)}, Node ${node}</text>${bars.join("")}</svg>\n`
  );
};

/**
 * Prints what a bench has measured: `lead`, a sentence on how, and the table of `head` and `cells`. With `isSaved` the same is written to
 * `results/NAME.json`, the table to bench/README.md, and `rows`, if it has some, are drawn to `docs/public/bench-NAME.svg` under `title` and `note`.
 */
export const reportFigures = (name, { lead, head, cells, ...chart }, isSaved) => {
  const node = process.version;
  const cores = availableParallelism();
  const said = `${lead}, Node ${node}, ${cores} cores, a load of ${load} before:\n\n${toTable(head, cells)}`;
  console.log(said);
  if (!isSaved) return;
  const results = new URL("../results/", import.meta.url);
  mkdirSync(results, { recursive: true });
  const result = { node, cores, load, ...chart, lead, head, cells };
  writeFileSync(new URL(`${name}.json`, results), `${JSON.stringify(result, null, 2)}\n`);
  writeMarked(fileURLToPath(new URL("../README.md", import.meta.url)), name, said);
  if (chart.rows === undefined) return;
  writeFileSync(new URL(`../../docs/public/bench-${name}.svg`, import.meta.url), drawing({ node, ...chart }));
};
