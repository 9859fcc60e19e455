import { defineConfig } from "tsup";

/**
 * The build of one library package: ESM, one file per entry, siblings left as imports. The set-up writes the type
 * declarations of all packages, in one run of the compiler.
 * Takes the entries as `{ "dist name": "source file" }`.
 */
export const library = (entry: Record<string, string>) =>
  defineConfig({
    entry,
    format: ["esm"],
    target: "node20",
    platform: "neutral",
    external: [/^node:/],
    sourcemap: false,
    clean: ["!**/*.d.ts"],
    splitting: true,
    treeshake: true,
    removeNodeProtocol: false,
  });
