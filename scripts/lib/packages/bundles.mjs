import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
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

const esbuild = (dir, entryPoints, platform, more = {}) =>
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
    ...more,
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

/** The bytes that a page loads for each entry that runs in browsers, minified and gzipped, by specifier. */
export async function bundleSizes(dir, consumers) {
  const wanted = consumers
    .flatMap(({ name, entries }) => entries.map((entry) => ({ name, ...entry })))
    .filter(({ isBrowser }) => isBrowser)
    .filter(({ specifier }) => !specifier.endsWith("/testing"));
  const files = wanted.map(({ name, specifier }, index) => {
    const file = join(dir, name, `size-${index}.mjs`);
    writeFileSync(file, `export * from "${specifier}";\n`);
    return file;
  });
  if (files.length === 0) return {};
  const { outputFiles } = await esbuild(dir, files, "browser", { minify: true, entryNames: "[name]" });
  return Object.fromEntries(
    outputFiles.map(({ path, contents }) => {
      const { specifier } = wanted[Number(/size-(\d+)\.js$/.exec(path)[1])];
      return [specifier, gzipSync(contents, { level: 9 }).length];
    }),
  );
}
