import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { build as buildWithEsbuild } from "esbuild";
import { build as buildWithVite } from "vite";

const firstLines = (error) =>
  String(error?.message ?? error)
    .split("\n")
    .slice(0, 3)
    .join(" ");

/** What a bundler says, or nothing where it makes a bundle. */
const problemsOf = (name, work) =>
  work.then(
    () => [],
    (error) => [`cannot be bundled with ${name}: ${firstLines(error)}`],
  );

const esbuild = (dir, entryPoints, platform) =>
  buildWithEsbuild({
    absWorkingDir: dir,
    entryPoints,
    bundle: true,
    write: false,
    outdir: join(dir, "bundles"),
    format: "esm",
    platform,
    target: "es2022",
    logLevel: "silent",
  });

/**
 * Bundles an application of each consumer below `dir`, as its user would: with esbuild, and those for browsers with Vite
 * too. Optional peers may be missing. Returns findings.
 */
export async function checkBundles(dir, consumers) {
  const files = { browser: [], node: [] };
  for (const { name, entries, isBrowser } of consumers) {
    if (entries.length === 0) continue;
    const names = entries.map((_, index) => `entry${index}`);
    const imports = entries.map(({ specifier }, index) => `import * as entry${index} from "${specifier}";`);
    const file = join(dir, name, "application.mjs");
    writeFileSync(file, `${imports.join("\n")}\nglobalThis.application = [${names.join(", ")}];\n`);
    files[isBrowser ? "browser" : "node"].push(file);
  }
  const vite = () =>
    buildWithVite({
      root: dir,
      configFile: false,
      logLevel: "silent",
      build: {
        write: false,
        minify: false,
        target: "es2022",
        rollupOptions: {
          input: Object.fromEntries(files.browser.map((file, index) => [`app${index}`, file])),
        },
      },
    });
  return [
    ...(await problemsOf("esbuild", esbuild(dir, files.node, "node"))),
    ...(await problemsOf("esbuild", esbuild(dir, files.browser, "browser"))),
    ...(files.browser.length === 0 ? [] : await problemsOf("Vite", vite())),
  ];
}
