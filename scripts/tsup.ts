import { readFileSync } from "node:fs";
import { defineConfig, type Options } from "tsup";
import { licencesPlugin } from "./lib/licences.ts";

const versionOf = (name: string): string =>
  JSON.parse(readFileSync(new URL(`../packages/${name}/package.json`, import.meta.url), "utf8")).version;

const shared = {
  format: ["esm"],
  target: "node20",
  sourcemap: false,
  splitting: true,
  treeshake: true,
  removeNodeProtocol: false,
  // What agents say of themselves: programs bundle the package's sources.
  define: { AGENT_SDK_VERSION: JSON.stringify(versionOf("agent-sdk")) },
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

const gatewayError = "{ static isInstance() { return false; } }";

/** Modules that no program here uses and each process would parse at its start, with what is in their place. */
const unused: readonly (readonly [RegExp, string])[] = [
  // zod's messages in other languages: 300 kB.
  [/[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/, 'export { default as en } from "./en.js";'],
  // The schemas of zod 3, which the AI SDK still accepts.
  [/[\\/]zod[\\/]v3[\\/]index\.js$/, "export const ZodFirstPartyTypeKind = {};"],
  // The AI SDK's gateway, for models that are given by name only.
  [
    /[\\/]@ai-sdk[\\/]gateway[\\/]dist[\\/]index\.mjs$/,
    `export const gateway = undefined; export const createGateway = undefined;
     export class GatewayError ${gatewayError} export class GatewayAuthenticationError ${gatewayError}`,
  ],
];

const withoutUnused: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "without-unused",
  setup(build) {
    for (const [filter, contents] of unused) build.onLoad({ filter }, () => ({ contents }));
  },
};

/**
 * The build of a program, with all that it imports in it: it starts a quarter quicker than from hundreds of files. The
 * licences of what is in it go to `dist/licences.txt`. `external` are packages that bring files of their own. Beside the build
 * of a library, which cleans the same folder, it `cleans` nothing.
 */
export const program = (
  entry: Record<string, string>,
  external: readonly [string, ...string[]],
  { cleans = true }: { readonly cleans?: boolean } = {},
) =>
  defineConfig({
    ...shared,
    entry,
    platform: "node",
    // tsup checks first what to bundle, so exclude the rest here.
    noExternal: [new RegExp(`^(?!(?:${external.join("|")})$)`)],
    clean: cleans && ["!**/*.cjs"],
    // Some of what is bundled is CommonJS, and asks for Node's modules by a function that ESM has not.
    banner: {
      js: 'import { createRequire as createRequireHere } from "node:module"; const require = createRequireHere(import.meta.url);',
    },
    esbuildPlugins: [licencesPlugin("dist/licences.txt"), withoutUnused],
    // From the sources of siblings: each command then loads only the files that it needs, and not whole packages.
    esbuildOptions(options) {
      options.conditions = ["@harnesskit/source"];
    },
    minifyWhitespace: true,
    minifySyntax: true,
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
