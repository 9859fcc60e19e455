import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { browserProblems, importProblems, manifestProblems, reachingProblems } from "./lib/layers.mjs";
import { layers, maxSourceLines } from "./lib/layers-table.mjs";
import { budgetProblems, lineBudgets, lowerBudgets } from "./lib/line-budgets.mjs";
import { option, report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { filesBelow, workspacePackages } from "./lib/workspace.mjs";

const root = resolve(option("root", repositoryRoot));
const suppression = /@ts-(?:ignore|nocheck|expect-error)|biome-ignore/;
const findings = [];
const linesOf = {};
let fileCount = 0;

for (const pkg of workspacePackages(root)) {
  const rule = pkg.kind === "library" ? layers[pkg.short] : undefined;
  if (pkg.kind === "library" && rule === undefined) {
    findings.push(`${pkg.path}: has no row in scripts/lib/layers-table.mjs`);
  }
  for (const problem of manifestProblems(pkg, rule)) findings.push(`${pkg.path}/package.json: ${problem}`);
  for (const problem of browserProblems(pkg, rule)) findings.push(`${pkg.path}/${problem}`);
  for (const file of filesBelow(join(pkg.dir, "src"), [".ts", ".tsx", ".mts"])) {
    fileCount += 1;
    const place = relative(root, file).replaceAll("\\", "/");
    const text = readFileSync(file, "utf8");
    const lines = text.split("\n").length - 1;
    if (suppression.test(text)) findings.push(`${place}: suppresses a check`);
    linesOf[pkg.path] = (linesOf[pkg.path] ?? 0) + lines;
    if (lines > maxSourceLines)
      findings.push(`${place}: ${lines} lines; split it into files of at most ${maxSourceLines}`);
    for (const { line, text: problem } of importProblems(pkg, rule, file, text))
      findings.push(`${place}:${line}: ${problem}`);
  }
  for (const file of filesBelow(join(pkg.dir, "test"), [".ts", ".tsx", ".mts"])) {
    const place = relative(root, file).replaceAll("\\", "/");
    for (const { line, text: problem } of reachingProblems(pkg, root, file, readFileSync(file, "utf8"))) {
      findings.push(`${place}:${line}: ${problem}`);
    }
  }
}
if (root === repositoryRoot) {
  if (process.argv.includes("--write")) lowerBudgets(lineBudgets(), linesOf);
  findings.push(...budgetProblems(lineBudgets(), linesOf));
}

report("layers", findings, `${fileCount} source files`);
