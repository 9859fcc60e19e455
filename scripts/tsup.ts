import { defineConfig } from "tsup";

/**
 * The build of one library package: ESM with type declarations, one file per entry, siblings left as imports.
 * Takes the entries as `{ "dist name": "source file" }`.
 */
export const library = (entry: Record<string, string>) =>
  defineConfig({
    entry,
    format: ["esm"],
    target: "node20",
    platform: "neutral",
    external: [/^node:/],
    dts: { compilerOptions: { ignoreDeprecations: "6.0" } },
    sourcemap: false,
    clean: true,
    splitting: true,
    treeshake: true,
    removeNodeProtocol: false,
  });
