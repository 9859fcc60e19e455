import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { build as buildWithEsbuild } from "esbuild";
import { build as buildWithVite } from "vite";

const firstLine = (error) => String(error?.message ?? error).split("\n")[0];

/** What a bundler says, or undefined where it makes a bundle. */
const problemOf = (name, work) =>
  work.then(
    () => undefined,
    (error) => `cannot be bundled with ${name}: ${firstLine(error)}`,
  );

/**
 * Bundles an application that imports `specifiers` from the project in `dir`, as its user would: with esbuild, and
 * where it is for browsers with Vite too. Optional peers may be missing. Returns findings.
 */
export async function bundleEntries(dir, specifiers, { isBrowser }) {
  if (specifiers.length === 0) return [];
  const file = join(dir, "application.mjs");
  const names = specifiers.map((_, index) => `entry${index}`);
  const imports = specifiers.map((specifier, index) => `import * as entry${index} from "${specifier}";`);
  writeFileSync(file, `${imports.join("\n")}\nglobalThis.application = [${names.join(", ")}];\n`);
  const esbuild = buildWithEsbuild({
    absWorkingDir: dir,
    entryPoints: [file],
    bundle: true,
    write: false,
    format: "esm",
    platform: isBrowser ? "browser" : "node",
    target: "es2022",
    logLevel: "silent",
  });
  const problems = [await problemOf("esbuild", esbuild)];
  if (isBrowser) {
    const vite = buildWithVite({
      root: dir,
      configFile: false,
      logLevel: "silent",
      build: { write: false, minify: false, target: "es2022", rollupOptions: { input: file } },
    });
    problems.push(await problemOf("Vite", vite));
  }
  return problems.filter((problem) => problem !== undefined);
}
