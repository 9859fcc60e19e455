import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "rolldown";

const resolvedFrom = (room: string, name: string): string =>
  pathToFileURL(createRequire(new URL(`../packages/${room}/package.json`, import.meta.url)).resolve(name))
    .href;

/** What is native stays where it is. */
const natives = { libsql: resolvedFrom("store-sqlite", "libsql"), pg: resolvedFrom("store-postgres", "pg") };

/**
 * Where the bundles of this run are. In watch mode sources change between two runs, so each file of tests makes its own.
 */
const bundleDirectory = (entry: string): string => {
  const version = process.env.VITEST_MODE === "WATCH" ? `${process.pid} ${performance.now()}` : "";
  const name = createHash("sha256").update(`${entry} ${version}`).digest("hex").slice(0, 16);
  return join(process.env.HARNESS_TEST_RUN as string, name);
};

/**
 * A TypeScript entry with everything that it imports as files that a plain `node` of any fixture and any user can run: what
 * is imported late is loaded late. It is built once for all tests of a run, and goes with the end of the run.
 */
export const sourceBundle = async (entry: URL): Promise<string> => {
  const input = fileURLToPath(entry);
  const directory = bundleDirectory(input);
  const path = join(directory, "entry.mjs");
  if (existsSync(path)) return path;
  // Two workers may build the same: each writes its own directory, and the first one stays.
  const dir = `${directory}.${process.pid}`;
  await build({
    input,
    platform: "node",
    logLevel: "silent",
    external: Object.keys(natives),
    resolve: { conditionNames: ["@harnesskit/source", "node", "import", "default"] },
    output: { dir, entryFileNames: "entry.mjs", chunkFileNames: "[name]-[hash].mjs", paths: natives },
  });
  await rename(dir, directory).catch((error: unknown) => {
    if (!existsSync(path)) throw error;
  });
  return path;
};
