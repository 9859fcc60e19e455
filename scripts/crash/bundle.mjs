import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { repositoryRoot } from "../lib/root.mjs";

const store = createRequire(join(repositoryRoot, "packages/store-sqlite/package.json"));
/** What is native stays where it is. */
const native = {
  name: "native",
  resolveId: {
    filter: { id: /^libsql$/ },
    handler: (id) => ({ id: store.resolve(id), external: true }),
  },
};
const bundles = new Map();

const bundle = async (entry) => {
  const directory = mkdtempSync(join(tmpdir(), "crash-bundle-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  const outfile = join(directory, "program.mjs");
  await build({
    input: fileURLToPath(entry),
    platform: "node",
    external: ["pg-native"],
    plugins: [native],
    output: { file: outfile, format: "esm", codeSplitting: false },
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
