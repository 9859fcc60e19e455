import { toTable } from "../marked-table.mjs";

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

/** Prints what was tried, a table each. */
export function printCompatibility(results) {
  for (const [mark, rows] of Object.entries(results)) console.log(`${toTable(...tables[mark](rows))}\n`);
}
