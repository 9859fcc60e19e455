import { existsSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative, resolve, sep } from "node:path";
import { importsOf } from "./source-rules.mjs";
import { publishedEntries } from "./workspace.mjs";

const scope = "@harnesskit/";
const isRelative = (specifier) => specifier.startsWith(".") || specifier.startsWith("/");

/** The package of a bare specifier: `@ai-sdk/provider/x` is of `@ai-sdk/provider`. */
export const packageOf = (specifier) =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

function siblingProblem(pkg, rule, specifier) {
  const [short, ...rest] = specifier.slice(scope.length).split("/");
  if (rest[0] === "src" || rest[0] === "dist") return `reaches into ${specifier}: import a published entry`;
  if (short === pkg.short) return `imports itself by name (${specifier}): use a relative import`;
  if (rule === undefined) return undefined;
  if (rule.imports.includes(short) || rule.imports.includes([short, ...rest].join("/"))) return undefined;
  return `imports ${specifier}, which layer ${rule.layer} \`${pkg.short}\` may not (it may import: ${rule.imports.join(", ") || "no sibling"})`;
}

function importProblem(pkg, rule, file, specifier) {
  if (isRelative(specifier)) {
    const target = resolve(dirname(file), specifier);
    const outside = relative(join(pkg.dir, "src"), target).split(sep)[0] === "..";
    return outside ? `leaves its package's src: ${specifier}` : undefined;
  }
  if (isBuiltin(specifier)) {
    if (!specifier.startsWith("node:")) return `imports ${specifier} without \`node:\``;
    return rule?.noNode ? `imports ${specifier}, but \`${pkg.short}\` runs in browsers` : undefined;
  }
  if (specifier.startsWith(scope)) return siblingProblem(pkg, rule, specifier);
  if (rule?.external !== undefined && !rule.external.includes(packageOf(specifier))) {
    return `imports ${specifier}; \`${pkg.short}\` may import: ${rule.external.join(", ") || "nothing foreign"}`;
  }
  return undefined;
}

/** What is wrong with one source file's imports, as `{ line, text }`. `rule` is the package's row of the table, if it has one. */
export function importProblems(pkg, rule, file, text) {
  return importsOf(text).flatMap(({ specifier, line }) => {
    const problem = importProblem(pkg, rule, file, specifier);
    return problem === undefined ? [] : [{ line, text: problem }];
  });
}

/** Imports of a test or configuration file that reach into a sibling's sources or output, as `{ line, text }`. */
export function reachingProblems(pkg, root, file, text) {
  return importsOf(text).flatMap(({ specifier, line }) => {
    const inside = specifier.startsWith(scope) && ["src", "dist"].includes(specifier.split("/")[2]);
    const path = relative(root, resolve(dirname(file), specifier))
      .split(sep)
      .join("/");
    const sibling =
      isRelative(specifier) && /^(?:packages|apps)\//.test(path) && !path.startsWith(`${pkg.path}/`);
    return inside || sibling ? [{ line, text: `reaches into ${specifier}: import a published entry` }] : [];
  });
}

/** Siblings that a package's manifest asks for at run time and that the table forbids, as texts. */
export function manifestProblems(pkg, rule) {
  const { dependencies = {}, peerDependencies = {}, optionalDependencies = {} } = pkg.manifest;
  const wanted = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });
  return wanted.flatMap((name) => {
    if (name.startsWith(scope)) {
      const short = name.slice(scope.length);
      const allowed = rule === undefined || rule.imports.some((entry) => entry.split("/")[0] === short);
      return allowed ? [] : [`depends on ${name}, which layer ${rule.layer} may not`];
    }
    const foreign = rule?.external !== undefined && !rule.external.includes(name);
    return foreign
      ? [`depends on ${name}; it may depend on: ${rule.external.join(", ") || "nothing foreign"}`]
      : [];
  });
}

/** Node imports in the built files of a package's browser entries, chunks included, as texts. */
export function browserProblems(pkg, rule) {
  if (rule?.browser === undefined) return [];
  const entries = publishedEntries(pkg).filter(
    ({ subpath }) => rule.browser === "*" || rule.browser.includes(subpath),
  );
  const queue = entries.flatMap(({ files }) =>
    files.filter((file) => /\.[cm]?js$/.test(file)).map((file) => join(pkg.dir, file)),
  );
  const seen = new Set();
  const problems = [];
  while (queue.length > 0) {
    const file = queue.pop();
    if (seen.has(file)) continue;
    seen.add(file);
    const place = relative(pkg.dir, file);
    if (!existsSync(file)) {
      problems.push(`${place} is not built`);
      continue;
    }
    for (const { specifier } of importsOf(readFileSync(file, "utf8"))) {
      if (isRelative(specifier)) queue.push(resolve(dirname(file), specifier));
      else if (isBuiltin(specifier))
        problems.push(`${place} imports ${specifier}, but it is for browsers too`);
    }
  }
  return problems;
}
