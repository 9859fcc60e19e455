import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { filesBelow, workspacePackages } from "./workspace.mjs";

const relativeImport = /(\bfrom |\bimport |\bimport\()"(\.{1,2}\/[^"]+)\.ts"/g;

/** The declarations that a package promises: `{ types, source }`, both without endings, from the package's folder. */
const promisedTypes = ({ manifest }) =>
  Object.values(manifest.exports ?? {})
    .filter((target) => target.types !== undefined)
    .map((target) => ({
      types: target.types.replace(/^\.\/dist\//, "").replace(/\.d\.ts$/, ""),
      source: target["@harnesskit/source"].replace(/^\.\/src\//, "").replace(/\.ts$/, ""),
    }));

const write = (file, text) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

/** Copies the map of a declaration, so that it leads from its new place to its source. */
function writeMap(from, to, declaration) {
  const map = JSON.parse(readFileSync(from, "utf8"));
  const source = join(dirname(declaration), basename(map.sources[0]));
  write(to, JSON.stringify({ ...map, sources: [relative(dirname(to), source).split(sep).join("/")] }));
}

/**
 * Puts what the compiler wrote below `emitted` into the `dist` folder of each package that promises types: a file for
 * each source file, and one by each promised name that leads to its entry. Imports of sources become imports of what
 * is beside the declaration in `dist`.
 */
export function placeDeclarations(root, emitted) {
  for (const pkg of workspacePackages(root)) {
    const promised = promisedTypes(pkg);
    if (promised.length === 0) continue;
    const from = join(emitted, pkg.path, "src");
    const dist = join(pkg.dir, "dist");
    for (const old of filesBelow(dist, [".d.ts", ".d.ts.map"], { skip: [] })) rmSync(old);
    for (const file of filesBelow(from, [".d.ts"], { skip: [] })) {
      const text = readFileSync(file, "utf8").replace(relativeImport, '$1"$2.js"');
      const placed = join(dist, relative(from, file));
      write(placed, text);
      writeMap(`${file}.map`, `${placed}.map`, join(pkg.dir, "src", relative(from, file)));
    }
    for (const { types, source } of promised) {
      if (types === source) continue;
      const target = relative(dirname(types), source).split(sep).join("/");
      write(join(dist, `${types}.d.ts`), `export * from "./${target}.js";\n`);
    }
  }
}
