import { chmodSync } from "node:fs";
import { join } from "node:path";
import { build } from "rolldown";
import { licences } from "./licences.mjs";

/**
 * Programs with all that they import in them, by package. `external` are packages that bring files of their own; what `together` names is
 * one file with all that it imports, but for what one before it has. So the parts of a frequent command come first, and it loads few files.
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
    together: {
      hook: /[\\/]cli[\\/]src[\\/]guard[\\/]hook-program\.ts$/,
      zod: /[\\/]node_modules[\\/]zod[\\/]/,
      start: /[\\/]cli[\\/]src[\\/]command-line\.ts$/,
      threads: /[\\/]cli[\\/]src[\\/]threads[\\/]threads\.ts$/,
      inbox: /[\\/]cli[\\/]src[\\/]inbox[\\/](?:inbox|timeline)\.ts$/,
      policy: /[\\/]cli[\\/]src[\\/]ahp[\\/](?:shipped-policy|policy-server)\.ts$/,
      run: /[\\/]cli[\\/]src[\\/](?:run[\\/]run|run[\\/]run-turns|serve[\\/]thread-service|supervision[\\/]supervision)\.ts$/,
      model: /[\\/]thread-server[\\/]src[\\/]ai-sdk[\\/]index\.ts$/,
    },
  },
  // A core starts it with each command of `harness`.
  "workspace-agent": { entries: { agent: "src/bin.ts" }, external: ["@vscode/ripgrep"], together: {} },
};

/** Programs of one file, which a host starts for each call of a tool. */
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
  load: {
    filter: { id: unused.map(([file]) => file) },
    handler: (id) => unused.find(([file]) => file.test(id))?.[1],
  },
};

/** A plugin of the build: what begins as a program may be started. */
export const executable = {
  name: "executable",
  writeBundle({ dir = "." }, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === "chunk" && file.code.startsWith("#!")) chmodSync(join(dir, file.fileName), 0o755);
  },
};

const buildCommonJs = (dir, entries, define, { external = [], plugins = [], codeSplitting }) =>
  build({
    cwd: dir,
    input: entries,
    platform: "node",
    external: external.map((name) => new RegExp(`^${name}(?:/|$)`)),
    // From the sources of siblings: each command then loads only the files that it needs, and not whole packages.
    resolve: {
      conditionNames: ["@harnesskit/source", "import", "module", "node", "default"],
      mainFields: ["module", "main"],
    },
    transform: { target: "node20", define },
    plugins: [...plugins, withoutUnused, executable],
    onLog(level, log, handler) {
      if (log.code !== "INEFFECTIVE_DYNAMIC_IMPORT") handler(level, log);
    },
    output: {
      dir: join(dir, "dist"),
      format: "cjs",
      // As the ES modules that the sources are.
      strict: true,
      entryFileNames: "[name].cjs",
      chunkFileNames: "[name]-[hash].cjs",
      comments: false,
      // Names stay, for stack traces.
      minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
      codeSplitting,
    },
  });

/**
 * Builds the entries of a program as CommonJS files that share their parts: it starts in two thirds of the time of many ES modules. The
 * licences of what is in them go to `dist/licences.txt`.
 */
export const buildProgram = (dir, { entries, external, together }, define) =>
  buildCommonJs(dir, entries, define, {
    external,
    plugins: [licences("licences.txt")],
    codeSplitting: {
      groups: Object.entries(together).map(([name, test], index) => ({ name, test, priority: 99 - index })),
    },
  });

/** Builds the entries of a program as one file each. */
export const buildQuickProgram = (dir, entries, define) =>
  Promise.all(
    Object.entries(entries).map(([name, file]) =>
      buildCommonJs(dir, { [name]: file }, define, { codeSplitting: false }),
    ),
  );
