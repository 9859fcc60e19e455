import { join } from "node:path";
import { build } from "esbuild";
import { writeLicences } from "./licences.mjs";

/**
 * Programs with all that they import in them, by package: each starts a quarter quicker than from hundreds of files. `external`
 * are packages that bring files of their own.
 */
export const programs = {
  cli: {
    entries: { bin: "src/bin.ts", "mcp-agent": "src/agents/mcp-agent-bin.ts" },
    external: [
      "libsql",
      "nodemailer",
      "pg",
      "@opentelemetry/sdk-node",
      "@vscode/ripgrep",
      "@harnesskit/conformance",
    ],
  },
  // A core starts it with each command of `harness`.
  "workspace-agent": { entries: { agent: "src/bin.ts" }, external: ["@vscode/ripgrep"] },
};

/** Programs that are started so often that their start counts: one CommonJS file each, which Node loads 5 ms sooner than an ES module. */
export const quickPrograms = { cli: { "guard-hook": "src/guard/guard-hook-bin.ts" } };

const gatewayError = "{ static isInstance() { return false; } }";

/** Modules that no program here uses and each process would parse at its start, with what is in their place. */
const unused = [
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

const withoutUnused = {
  name: "without-unused",
  setup({ onLoad }) {
    for (const [filter, contents] of unused) onLoad({ filter }, () => ({ contents }));
  },
};

const shared = {
  bundle: true,
  outdir: "dist",
  target: "node20",
  platform: "node",
  // From the sources of siblings: each command then loads only the files that it needs, and not whole packages.
  conditions: ["@harnesskit/source"],
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: "error",
};

/** Builds the entries of a program as ES modules that share their parts; the licences of what is in it go to `dist/licences.txt`. */
export async function buildProgram(dir, { entries, external }, define) {
  const { metafile } = await build({
    ...shared,
    absWorkingDir: dir,
    entryPoints: entries,
    external,
    define,
    format: "esm",
    splitting: true,
    metafile: true,
    // Some of what is bundled is CommonJS, and asks for Node's modules by a function that ESM has not.
    banner: {
      js: 'import { createRequire as createRequireHere } from "node:module"; const require = createRequireHere(import.meta.url);',
    },
    plugins: [withoutUnused],
  });
  writeLicences(dir, Object.keys(metafile.inputs), join(dir, "dist/licences.txt"));
}

/** Builds the entries of a program as one CommonJS file each; it imports nothing but Node's modules and what is in it. */
export const buildQuickProgram = (dir, entries, define) =>
  build({
    ...shared,
    absWorkingDir: dir,
    entryPoints: entries,
    define,
    format: "cjs",
    outExtension: { ".js": ".cjs" },
  });
