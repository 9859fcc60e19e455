import { chmodSync } from "node:fs";
import { join } from "node:path";
import { type CodeSplittingGroup, defineConfig, type Plugin } from "rolldown";
import { agentSdkVersion } from "./lib/agent-sdk-version.ts";
import { licencesPlugin } from "./lib/licences.ts";

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

const withoutUnused: Plugin = {
  name: "without-unused",
  load: {
    filter: { id: unused.map(([file]) => file) },
    handler: (id) => unused.find(([file]) => file.test(id))?.[1],
  },
};

const executable: Plugin = {
  name: "executable",
  writeBundle({ dir = "." }, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === "chunk" && file.code.startsWith("#!")) chmodSync(join(dir, file.fileName), 0o755);
  },
};

export interface ProgramOptions {
  /** Packages that bring files of their own. */
  readonly external: readonly string[];
  /** Files that are loaded together with all that they import: each a name, and the source files. @default none */
  readonly together?: Readonly<Record<string, RegExp>>;
  /** Empties `dist` first. @default true */
  readonly cleans?: boolean;
}

const groupsOf = (together: Readonly<Record<string, RegExp>>): CodeSplittingGroup[] =>
  Object.entries(together).map(([name, test], index) => ({ name, test, priority: 99 - index }));

/**
 * The build of a program, with all that it imports in it. CommonJS: Node loads it in half the time of as many ES modules.
 * The licences of what is in it go to `dist/licences.txt`.
 */
export const program = (
  input: Readonly<Record<string, string>>,
  { external, together = {}, cleans = true }: ProgramOptions,
) =>
  defineConfig({
    input: { ...input },
    platform: "node",
    external: external.map((name) => new RegExp(`^${name}(?:/|$)`)),
    // From the sources of siblings: each command then loads only the files that it needs, and not whole packages.
    resolve: { conditionNames: ["@harnesskit/source", "import", "module", "node", "default"] },
    transform: { target: "node20", define: { AGENT_SDK_VERSION: JSON.stringify(agentSdkVersion) } },
    plugins: [licencesPlugin("licences.txt"), withoutUnused, executable],
    onLog(level, log, handler) {
      if (log.code !== "INEFFECTIVE_DYNAMIC_IMPORT") handler(level, log);
    },
    output: {
      dir: "dist",
      format: "cjs",
      entryFileNames: "[name].cjs",
      chunkFileNames: "[name]-[hash].cjs",
      cleanDir: cleans,
      minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
      comments: false,
      codeSplitting: { groups: groupsOf(together) },
    },
  });
