import { builtinModules } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Rollup } from "vite";
import { describe, expect, it } from "vitest";

const entry = fileURLToPath(new URL("../src/index.ts", import.meta.url));
const source = ["@harnesskit/source", "browser", "module", "import", "default"];

/** The entry as a page would load it: one minified file, with what it needs of the sibling packages. */
const bundle = async (external: string[]) => {
  const built = await build({
    configFile: false,
    logLevel: "silent",
    resolve: { conditions: source },
    build: {
      write: false,
      modulePreload: false,
      minify: true,
      target: "es2022",
      rollupOptions: { input: entry, external, preserveEntrySignatures: "strict" },
    },
  });
  const [{ output }] = [built].flat() as [Rollup.RollupOutput];
  const [chunk, ...more] = output;
  expect(more).toEqual([]);
  return { chunk, imports: chunk.imports, bytes: gzipSync(chunk.code, { level: 9 }).length };
};

/** In thousands of bytes, rounded up. */
const kilobytes = (bytes: number): number => Math.ceil(bytes / 100) / 10;

describe("the browser bundle", () => {
  it("holds no import of Node, and is at most 21.5 kB gzipped without zod", async () => {
    const bare = await bundle(["zod"]);
    expect(bare.imports).toEqual(["zod"]);
    const ofNode = [...bare.chunk.code.matchAll(/(?:from|import)\s*\(?["']([^"']+)["']/g)]
      .map(([, specifier = ""]) => specifier)
      .filter((specifier) => specifier.startsWith("node:") || builtinModules.includes(specifier));
    expect(ofNode).toEqual([]);
    expect(kilobytes(bare.bytes)).toBeLessThanOrEqual(21.5);
    const whole = await bundle([]);
    expect(whole.imports).toEqual([]);
  });
});
