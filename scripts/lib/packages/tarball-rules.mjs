import { existsSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, resolve } from "node:path";
import { packageOf } from "../layers.mjs";
import { importsOf } from "../source-rules.mjs";

const foreign = /.\/src\/|(?:^|\/)(?:test|tests|node_modules)\/|\.test\.(?!yaml$)|tsconfig|\.tsbuildinfo$/;

/** What a packed package holds and should not, or the other way round, by its paths. */
export const tarballProblems = (files) => [
  ...files.filter((file) => foreign.test(file)).map((file) => `packs ${file}`),
  ...["LICENSE", "README.md"]
    .filter((name) => !files.includes(name))
    .map((name) => `does not pack a ${name}`),
];

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
