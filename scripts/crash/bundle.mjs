import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { repositoryRoot } from "../lib/root.mjs";

const store = createRequire(join(repositoryRoot, "packages/store-sqlite/package.json"));
/** What is native stays where it is. */
const native = {
  name: "native",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^libsql$/ }, ({ path }) => ({ path: store.resolve(path), external: true })),
};
const bundles = new Map();

const bundle = async (entry) => {
  const directory = mkdtempSync(join(tmpdir(), "crash-bundle-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  const outfile = join(directory, "program.mjs");
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["pg-native"],
    plugins: [native],
    logLevel: "error",
    // Modules of the CommonJS kind ask for Node's own.
    banner: {
      js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`,
    },
  });
  return outfile;
};

/**
 * A program with all that it imports as one file, which starts in half of the processor time. The file is removed with this process.
 *
 * @param {URL} entry
 * @returns {Promise<string>}
 */
export const bundleOf = (entry) => {
  const { href } = entry;
  if (!bundles.has(href)) bundles.set(href, bundle(entry));
  return bundles.get(href);
};
