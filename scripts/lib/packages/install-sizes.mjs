import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** The bytes of the files below a folder, folders named `node_modules` left out. */
function bytesBelow(dir) {
  let bytes = 0;
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) bytes += entry.name === "node_modules" ? 0 : bytesBelow(path);
    else if (entry.isFile()) bytes += statSync(path).size;
  }
  return bytes;
}

const linksIn = (modules) =>
  readdirSync(modules).flatMap((name) => {
    if (name.startsWith(".")) return [];
    const path = join(modules, name);
    if (name.startsWith("@") && !lstatSync(path).isSymbolicLink())
      return readdirSync(path).map((below) => join(path, below));
    return [path];
  });

/** The `node_modules` beside a package of pnpm's store, where its dependencies are linked. */
const modulesOf = (folder) => folder.slice(0, folder.lastIndexOf("/node_modules/") + "/node_modules".length);

/** What is installed for a project of pnpm: `{ bytes, packages }`, each package counted once. */
export function installedSize(project) {
  const seen = new Map();
  const visit = (link) => {
    const folder = realpathSync(link);
    if (seen.has(folder)) return;
    seen.set(folder, bytesBelow(folder));
    for (const next of linksIn(modulesOf(dirname(folder).concat("/x")))) visit(next);
  };
  for (const link of linksIn(join(project, "node_modules"))) visit(link);
  return { bytes: [...seen.values()].reduce((sum, bytes) => sum + bytes, 0), packages: seen.size };
}
