import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isBuiltin, packageOf } from "../layers.mjs";
import { importsOf } from "../source-rules.mjs";

const foreign =
  /.\/src\/|(?:^|\/)(?:test|tests|node_modules)\/|\.test\.(?!yaml$)|tsup\.config|tsconfig|\.tsbuildinfo$/;

/** What a packed package holds and should not, or the other way round. `files` are its paths, `manifest` its own. */
export function tarballProblems(files, manifest) {
  const problems = files.filter((file) => foreign.test(file)).map((file) => `packs ${file}`);
  for (const name of ["LICENSE", "README.md"]) {
    if (!files.includes(name)) problems.push(`does not pack a ${name}`);
  }
  const text = JSON.stringify(manifest);
  if (text.includes("@harnesskit/source")) problems.push("keeps the source condition in its exports");
  if (text.includes('"workspace:')) problems.push("keeps a `workspace:` range");
  if (manifest.license !== "MIT") problems.push("has no license field");
  return problems;
}

/** The maps of a package whose source is not in it. */
export function mapProblems(dir, files) {
  return files
    .filter((file) => file.endsWith(".map"))
    .flatMap((file) => {
      const { sources } = JSON.parse(readFileSync(join(dir, file), "utf8"));
      const lost = sources.filter((source) => !existsSync(join(dir, dirname(file), source)));
      return lost.map((source) => `${file} leads to ${source}, which is not packed`);
    });
}

/** The packages that an installed package's file names, its own chunks followed: `.js` and `.d.ts` alike. */
export function packagesNamedBy(dir, file, seen = new Set()) {
  const path = resolve(dir, file);
  if (seen.has(path) || !existsSync(path)) return new Set();
  seen.add(path);
  const named = new Set();
  for (const { specifier } of importsOf(readFileSync(path, "utf8"))) {
    if (specifier.startsWith(".")) {
      const target = join(dirname(path), specifier);
      const variants = path.endsWith(".d.ts") ? [target.replace(/\.js$/, ".d.ts")] : [target];
      for (const variant of variants) for (const name of packagesNamedBy(dir, variant, seen)) named.add(name);
    } else if (!isBuiltin(specifier)) {
      named.add(packageOf(specifier));
    }
  }
  return named;
}
