import { defineConfig, type Options } from "tsup";
import { licencesPlugin } from "./lib/licences.ts";

const shared = {
  format: ["esm"],
  target: "node20",
  sourcemap: false,
  splitting: true,
  treeshake: true,
  removeNodeProtocol: false,
} satisfies Options;

/**
 * The build of one library package: ESM, one file per entry, siblings left as imports. The set-up writes the type
 * declarations of all packages, in one run of the compiler.
 * Takes the entries as `{ "dist name": "source file" }`.
 */
export const library = (entry: Record<string, string>) =>
  defineConfig({
    ...shared,
    entry,
    platform: "neutral",
    external: [/^node:/],
    clean: ["!**/*.d.ts"],
  });

/**
 * The build of a program, with all that it imports in it: it starts a quarter quicker than from hundreds of files. The
 * licences of what is in it go to `dist/licences.txt`. `external` are packages that bring files of their own.
 */
export const program = (entry: Record<string, string>, external: readonly [string, ...string[]]) =>
  defineConfig({
    ...shared,
    entry,
    platform: "node",
    // tsup asks for what is bundled first, and so has to be told here what is not.
    noExternal: [new RegExp(`^(?!(?:${external.join("|")})$)`)],
    clean: true,
    // Some of what is bundled is CommonJS, and asks for Node's modules by a function that ESM has not.
    banner: {
      js: 'import { createRequire as createRequireHere } from "node:module"; const require = createRequireHere(import.meta.url);',
    },
    esbuildPlugins: [licencesPlugin("dist/licences.txt")],
  });
