import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";

const conditions = ["@harnesskit/source", "node", "module", "import", "default"];

/** The harness and its store as one file that a plain `node` can run; the native library stays where it is. */
export const buildHarnessBundle = async () => {
  const directory = await mkdtemp(join(tmpdir(), "harnesskit-bundle-"));
  const store = import.meta.resolve("@harnesskit/store-sqlite");
  const libsql = pathToFileURL(createRequire(store).resolve("libsql")).href;
  await build({
    configFile: false,
    logLevel: "silent",
    resolve: { conditions },
    ssr: { noExternal: true, external: ["libsql"], resolve: { conditions } },
    build: {
      ssr: fileURLToPath(new URL("../bundle-entry.ts", import.meta.url)),
      outDir: directory,
      emptyOutDir: false,
      rollupOptions: {
        external: ["libsql"],
        output: { entryFileNames: "bundle.mjs", paths: { libsql } },
      },
    },
  });
  return {
    path: join(directory, "bundle.mjs"),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
};
