import { defineConfig, type Options } from "tsup";
import { agentSdkVersion } from "./lib/agent-sdk-version.ts";

const shared = {
  format: ["esm"],
  target: "node20",
  sourcemap: false,
  splitting: true,
  treeshake: true,
  removeNodeProtocol: false,
  define: { AGENT_SDK_VERSION: JSON.stringify(agentSdkVersion) },
} satisfies Options;

/**
 * The build of one library package: ESM with source maps, one file per entry, siblings left as imports. The set-up writes the type
 * declarations of all packages, in one run of the compiler.
 * Takes the entries as `{ "dist name": "source file" }`.
 */
export const library = (entry: Record<string, string>) =>
  defineConfig({
    ...shared,
    entry,
    platform: "neutral",
    external: [/^node:/],
    clean: ["!**/*.d.ts", "!**/*.d.ts.map"],
    // The sources are published beside it.
    sourcemap: true,
    esbuildOptions(options) {
      options.sourcesContent = false;
    },
  });

/**
 * The build of a program that is started so often that its start counts: one CommonJS file for each entry, which Node loads
 * 5 ms sooner than an ES module. It imports nothing but Node's modules and what is in it.
 */
export const quickProgram = (entry: Record<string, string>) =>
  defineConfig({
    ...shared,
    entry,
    format: ["cjs"],
    splitting: false,
    platform: "node",
    noExternal: [/^@harnesskit\//],
    clean: false,
    esbuildOptions(options) {
      options.conditions = ["@harnesskit/source"];
    },
    minifyWhitespace: true,
    minifySyntax: true,
  });
