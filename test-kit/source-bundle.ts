import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const conditions = ["@harnesskit/source", "node", "module", "import", "default"];

/**
 * A TypeScript entry with everything that it imports as one file that a plain `node` of any fixture and any user can
 * run: `path`, in a directory of its own, which `remove` takes away. What is native stays where it is: `external` has
 * the name and the address of each such module.
 */
export const buildSourceBundle = async (entry: URL, external: Readonly<Record<string, string>> = {}) => {
  const names = Object.keys(external);
  const directory = await mkdtemp(join(tmpdir(), "harnesskit-bundle-"));
  await build({
    configFile: false,
    logLevel: "silent",
    resolve: { conditions },
    ssr: { noExternal: true, external: names, resolve: { conditions } },
    build: {
      ssr: fileURLToPath(entry),
      outDir: directory,
      emptyOutDir: false,
      rollupOptions: { external: names, output: { entryFileNames: "bundle.mjs", paths: { ...external } } },
    },
  });
  await chmod(directory, 0o755);
  return {
    directory,
    path: join(directory, "bundle.mjs"),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
};
