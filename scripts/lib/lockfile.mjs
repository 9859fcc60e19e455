import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const exactVersion = /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/;

function packageFolders(modules) {
  return readdirSync(modules, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory() || entry.name.startsWith(".")) return [];
    if (!entry.name.startsWith("@")) return [join(modules, entry.name)];
    return readdirSync(join(modules, entry.name), { withFileTypes: true })
      .filter((scoped) => scoped.isDirectory())
      .map((scoped) => join(modules, entry.name, scoped.name));
  });
}

/** The manifests of all installed packages that have optional dependencies, read from pnpm's store folder. */
export function manifestsWithOptionals(root) {
  const store = join(root, "node_modules/.pnpm");
  const manifests = new Map();
  for (const entry of readdirSync(store, { withFileTypes: true })) {
    const modules = join(store, entry.name, "node_modules");
    if (!entry.isDirectory() || entry.name === "node_modules" || !existsSync(modules)) continue;
    for (const folder of packageFolders(modules)) {
      if (!existsSync(join(folder, "package.json"))) continue;
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      if (manifest.optionalDependencies === undefined) continue;
      manifests.set(`${manifest.name}@${manifest.version}`, manifest);
    }
  }
  return [...manifests.values()];
}

/**
 * The optional dependencies that a package asks for and the lock file does not hold. pnpm leaves a platform
 * package out, silently, when the registry lacks it on the day of the locking.
 */
export function missingOptionals(manifests, lockedPackages) {
  const locked = new Set(Object.keys(lockedPackages));
  const names = new Set([...locked].map((key) => key.slice(0, key.lastIndexOf("@"))));
  return manifests.flatMap(({ name, version, optionalDependencies }) =>
    Object.entries(optionalDependencies)
      .filter(([dependency, range]) =>
        exactVersion.test(range) ? !locked.has(`${dependency}@${range}`) : !names.has(dependency),
      )
      .map(
        ([dependency, range]) =>
          `pnpm-lock.yaml lacks ${dependency}@${range}, which ${name}@${version} lists`,
      ),
  );
}
