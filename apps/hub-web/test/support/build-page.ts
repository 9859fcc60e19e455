import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

/** The page, built from its sources, in a directory of its own, which `remove` takes away. */
export const buildPage = async (): Promise<{ readonly path: string; remove(): Promise<void> }> => {
  const path = await mkdtemp(join(tmpdir(), "harness-page-"));
  const configFile = fileURLToPath(new URL("../../vite.config.mjs", import.meta.url));
  await build({ configFile, logLevel: "silent", build: { outDir: path, emptyOutDir: false } });
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
};
