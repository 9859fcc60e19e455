import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build as buildWithEsbuild } from "esbuild";
import { build as buildWithVite, type Rollup } from "vite";
import { describe, expect, it } from "vitest";

const conditions = ["@harnesskit/source", "browser", "module", "import", "default"];

const withEsbuild = async (entry: string): Promise<Uint8Array> => {
  const { outputFiles } = await buildWithEsbuild({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    conditions,
  });
  const [file] = outputFiles;
  return file?.contents ?? expect.fail("esbuild wrote no file");
};

const withVite = async (entry: string): Promise<Uint8Array> => {
  const built = await buildWithVite({
    configFile: false,
    logLevel: "silent",
    resolve: { conditions },
    build: {
      write: false,
      modulePreload: false,
      minify: true,
      target: "es2022",
      rollupOptions: { input: entry, preserveEntrySignatures: "strict" },
    },
  });
  const [{ output }] = [built].flat() as [Rollup.RollupOutput];
  return new TextEncoder().encode(output[0].code);
};

const bundlers = { esbuild: withEsbuild, Vite: withVite };

/** Thousands of bytes that a page loads at most, gzipped, with zod and all siblings. */
const limits: [entry: string, kilobytes: number][] = [
  ["thread-client/src/index.ts", 54],
  // The supervisor is a third of it; a page that only imports `createAhpClient` loads 45 kB.
  ["ahp-client/src/index.ts", 67],
  ["shell-client/src/index.ts", 51],
  ["graph/src/index.ts", 31],
  ["protocol/src/threads/index.ts", 34],
];

describe("what a page loads", () => {
  for (const [name, bundle] of Object.entries(bundlers)) {
    it.each(limits)(
      `of %s is at most %d kB gzipped with ${name}, without zod's locales`,
      async (entry, limit) => {
        const file = fileURLToPath(new URL(`../../packages/${entry}`, import.meta.url));
        const code = await bundle(file);
        expect(gzipSync(code, { level: 9 }).length / 1000).toBeLessThanOrEqual(limit);
      },
    );
  }
});
