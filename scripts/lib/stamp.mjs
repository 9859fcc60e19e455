import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { filesBelow, publishedEntries, workspacePackages } from "./workspace.mjs";

const rootFiles = [
  "package.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "tsconfig.base.json",
  "tsconfig.types.json",
  "scripts/lib/declarations.mjs",
  "scripts/lib/place-pages.mjs",
  "scripts/lib/build/licences.mjs",
  "scripts/lib/build/packages.mjs",
  "scripts/lib/build/programs.mjs",
];
const packageFile = /^(?:package\.json|tsconfig\.json|.*\.mjs)$/;

/** A digest of everything that the installation and the build depend on. */
export function sourceDigest(root) {
  const hash = createHash("sha256");
  hash.update(`${process.platform} ${process.arch} ${process.versions.modules}\n`);
  const add = (file) => {
    if (!existsSync(file)) return;
    hash.update(`${relative(root, file)}\0`);
    hash.update(readFileSync(file));
  };
  for (const file of rootFiles) add(join(root, file));
  for (const { dir } of workspacePackages(root)) {
    for (const name of readdirSync(dir).sort()) if (packageFile.test(name)) add(join(dir, name));
    for (const file of filesBelow(join(dir, "src"), [""])) add(file);
  }
  return hash.digest("hex");
}

/** A digest of what was built (names, sizes), or `undefined` where a promised entry is missing. */
export function outputDigest(root) {
  const hash = createHash("sha256");
  if (!existsSync(join(root, "node_modules/.modules.yaml"))) return undefined;
  for (const pkg of workspacePackages(root)) {
    const bins = Object.values(pkg.manifest.bin ?? {});
    const promised = [...bins, ...publishedEntries(pkg).flatMap((entry) => entry.files)];
    if (promised.some((file) => !existsSync(join(pkg.dir, file)))) return undefined;
    const { dependencies = {}, devDependencies = {} } = pkg.manifest;
    const needsModules = Object.keys({ ...dependencies, ...devDependencies }).length > 0;
    if (needsModules && !existsSync(join(pkg.dir, "node_modules"))) return undefined;
    for (const file of ["dist", "schema", "page"].flatMap((name) => filesBelow(join(pkg.dir, name), [""]))) {
      hash.update(`${relative(root, file)} ${statSync(file).size}\n`);
    }
  }
  return hash.digest("hex");
}
