import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { manifestsWithOptionals, missingOptionals } from "./lib/lockfile.mjs";
import { option, report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";

const root = resolve(option("root", repositoryRoot));
const lock = parse(readFileSync(join(root, "pnpm-lock.yaml"), "utf8"));
const manifests = manifestsWithOptionals(root);
const optionals = manifests.reduce(
  (sum, { optionalDependencies }) => sum + Object.keys(optionalDependencies).length,
  0,
);
report(
  "lockfile",
  missingOptionals(manifests, lock.packages ?? {}),
  `${optionals} optional dependencies of ${manifests.length} packages`,
);
