import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const conditions = ["@harnesskit/source", "node", "module", "import", "default"];

/** The package's sources as one file that a plain `node` of any fixture and any user can import. */
export const buildBundle = async () => {
  const directory = await mkdtemp(join(tmpdir(), "hk-uds-bundle-"));
  await build({
    configFile: false,
    logLevel: "silent",
    resolve: { conditions },
    ssr: { noExternal: true, resolve: { conditions } },
    build: {
      ssr: fileURLToPath(new URL("bundle-entry.ts", import.meta.url)),
      outDir: directory,
      emptyOutDir: false,
      rollupOptions: { output: { entryFileNames: "uds.mjs" } },
    },
  });
  await chmod(directory, 0o755);
  return {
    path: join(directory, "uds.mjs"),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
};
