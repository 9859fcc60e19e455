import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { apiReports } from "./lib/api-report.mjs";
import { report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { workspacePackages } from "./lib/workspace.mjs";

// Compares the public API of each package with its `api.txt`; with --write (npm run api) it writes the files instead.
const writes = process.argv.includes("--write");
const maxLines = 12;

/** The lines that only one of two texts has, with `-` and `+`. */
function difference(before, after) {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const [had, has] = [new Set(old), new Set(now)];
  const lines = [
    ...old.filter((line) => !has.has(line)).map((line) => `- ${line}`),
    ...now.filter((line) => !had.has(line)).map((line) => `+ ${line}`),
  ];
  return [
    ...lines.slice(0, maxLines),
    ...(lines.length > maxLines ? [`… ${lines.length} lines differ`] : []),
  ];
}

const packages = workspacePackages(repositoryRoot).filter(({ isPublic }) => isPublic);
const findings = [];
for (const [pkg, text] of apiReports(packages)) {
  const file = join(pkg.dir, "api.txt");
  if (writes) writeFileSync(file, text);
  else {
    const stated = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (stated !== text)
      findings.push(
        `${pkg.path}/api.txt: the public API is another one. If that is meant: npm run api, and say so in a changeset\n  ${difference(stated, text).join("\n  ")}`,
      );
  }
}
report("api", findings, `${packages.length} packages`);
