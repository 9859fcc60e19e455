import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
  let text = readFileSync(page, "utf8");
  for (const [mark, rows] of Object.entries(results)) {
    const [head, cells] = tables[mark](rows);
    const lines = [head, head.map(() => "---"), ...cells].map((row) => `| ${row.join(" | ")} |`);
    const [before, rest] = text.split(`<!-- ${mark} -->`);
    const after = rest.split(`<!-- end of ${mark} -->`)[1];
    text = `${before}<!-- ${mark} -->\n\n${lines.join("\n")}\n\n<!-- end of ${mark} -->${after}`;
  }
  writeFileSync(page, text);
}
