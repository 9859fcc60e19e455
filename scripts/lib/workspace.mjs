import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { repositoryRoot } from "./root.mjs";

const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

/** The manifest of a package of the repository, by its folder. */
export const manifestOf = (path) => readJson(join(repositoryRoot, path, "package.json"));

const foldersOf = (parent) =>
  existsSync(parent)
    ? readdirSync(parent, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => join(parent, entry.name))
    : [];

/**
 * The packages of the workspace below `root`, sorted by folder. Each is `{ name, short, dir, path, manifest,
 * isPublic, kind }`: `short` is the name without its scope, `path` the folder from the root with forward slashes,
 * `kind` is `library`, `app` or `other`.
 */
export function workspacePackages(root) {
  const folders = [
    ...foldersOf(join(root, "packages")),
    ...foldersOf(join(root, "apps")),
    ...foldersOf(join(root, "apps/examples")),
    join(root, "bench"),
    join(root, "conformance"),
  ];
  return folders
    .filter((dir) => existsSync(join(dir, "package.json")))
    .map((dir) => {
      const manifest = readJson(join(dir, "package.json"));
      const path = relative(root, dir).split(sep).join("/");
      const kind = path.startsWith("packages/") ? "library" : path.startsWith("apps/") ? "app" : "other";
      const short = manifest.name.replace(/^@[^/]+\//, "");
      return { name: manifest.name, short, dir, path, manifest, isPublic: manifest.private !== true, kind };
    })
    .sort((a, b) => a.path.localeCompare(b.path, "en"));
}

/**
 * The entries that a published package offers, from its published exports: `{ subpath, specifier, files }`, where
 * `files` are the relative files of all its conditions. Patterns and files that are not modules are left out.
 */
export function publishedEntries({ name, manifest }) {
  const exported = manifest.publishConfig?.exports ?? manifest.exports ?? {};
  return Object.entries(exported)
    .filter(([subpath]) => !subpath.includes("*") && !subpath.endsWith(".json"))
    .map(([subpath, target]) => ({
      subpath,
      specifier: subpath === "." ? name : `${name}/${subpath.slice(2)}`,
      files: typeof target === "string" ? [target] : Object.values(target),
    }));
}

/** All files below `dir` whose name ends in one of `endings`; folders named `node_modules` and `dist` are left out. */
export function filesBelow(dir, endings, { skip = ["node_modules", "dist", ".harness", ".cache"] } = {}) {
  if (!existsSync(dir)) return [];
  const found = [];
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) {
      if (!skip.includes(entry.name)) found.push(...filesBelow(path, endings, { skip }));
    } else if (entry.isFile() && endings.some((ending) => entry.name.endsWith(ending))) {
      found.push(path);
    }
  }
  return found.sort();
}
