import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const conditions = ["@harnesskit/source", "node", "module", "import", "default"];

/**
 * A TypeScript entry with everything that it imports as one file that a plain `node` of any fixture and any user can
 * run: `path`, in a directory of its own, which `remove` takes away.
 */
export const buildSourceBundle = async (entry: URL) => {
  const directory = await mkdtemp(join(tmpdir(), "harnesskit-bundle-"));
  await build({
    configFile: false,
    logLevel: "silent",
    resolve: { conditions },
    ssr: { noExternal: true, resolve: { conditions } },
    build: {
      ssr: fileURLToPath(entry),
      outDir: directory,
      emptyOutDir: false,
      rollupOptions: { output: { entryFileNames: "bundle.mjs" } },
    },
  });
  await chmod(directory, 0o755);
  return {
    directory,
    path: join(directory, "bundle.mjs"),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
};
