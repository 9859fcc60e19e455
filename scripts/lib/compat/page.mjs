import { join } from "node:path";
import { toTable, writeMarked } from "../marked-table.mjs";
import { repositoryRoot } from "../root.mjs";

const page = join(repositoryRoot, "docs/compatibility.md");
const verdict = (failed) => (failed === 0 ? "ok" : `${failed} failed`);

const tables = {
  node: (rows) => [
    ["Node.js", "entries loaded by `import` and `require`", "README programs run", ""],
    rows.map(({ version, entries, programs, failed }) => [version, entries, programs, verdict(failed)]),
  ],
  typescript: (rows) => {
    const projects = [...new Set(rows.map(({ project }) => project))];
    const name = (project) =>
      `${project.split(".")[1]}${project.startsWith("beside") ? ", beside optional peers" : ""}`;
    const versions = [...new Set(rows.map(({ version }) => version))];
    return [
      ["TypeScript", ...projects.map(name)],
      versions.map((version) => [
        version,
        ...projects.map((project) =>
          verdict(rows.find((row) => row.version === version && row.project === project).failed),
        ),
      ]),
    ];
  },
};

/** Writes the tables of docs/compatibility.md between their marks. */
export function writeCompatibility(results) {
  for (const [mark, rows] of Object.entries(results)) writeMarked(page, mark, toTable(...tables[mark](rows)));
}
