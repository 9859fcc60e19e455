import { rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "rolldown";
import { workspacePackages } from "../workspace.mjs";
import { licences } from "./licences.mjs";
import { buildProgram, buildQuickProgram, executable, programs, quickPrograms } from "./programs.mjs";

/** The programs of a library, which are built with the entries that it publishes. */
const furtherEntries = {
  conformance: { bin: "src/bin.ts" },
  "mcp-agent": { agent: "src/bin.ts" },
};

/** What the own build of a library reads, with all of its sources in it: with the entries, it would cut these into more files. */
const apart = { protocol: { "published-documents": "src/published-documents.ts" } };

/**
 * What a library has in it of its dependencies. The API of OpenTelemetry is forty files of CommonJS; its copies in a process share what an
 * SDK registers.
 */
const bundled = { wire: ["@opentelemetry/api"] };

/**
 * Files of a library that all its entries share, where the build would make many small ones: each takes about a millisecond of an import.
 * Only for code that every entry may load: none with `node:` in it.
 */
const together = {
  protocol: [
    { name: "base", test: /src[\\/]base[\\/]/, priority: 1 },
    { name: "shared", test: /src[\\/](?:envelope[\\/]|checked|fields|null-as-absent|rfc3339)/ },
  ],
  wire: [{ name: "shared", minShareCount: 2 }],
};

/** The published entries of a package, `{ "name in dist": "source file" }`: what its `exports` say. */
const publishedSources = ({ manifest }) =>
  Object.values(manifest.exports ?? {}).flatMap((target) => {
    const source = target["@harnesskit/source"];
    return source === undefined ? [] : [[target.default.replace(/^\.\/dist\/|\.js$/g, ""), source]];
  });

/** The build of a library: ESM with source maps, one file per entry; what it imports stays an import, but for what is bundled. */
const buildLibrary = (pkg, entries, define, codeSplitting) =>
  build({
    cwd: pkg.dir,
    input: entries,
    platform: "neutral",
    external: (id) => /^[^./]/.test(id) && !bundled[pkg.short]?.includes(id),
    resolve: { conditionNames: ["esnext", "module", "import", "default"] },
    transform: { target: "node20", define },
    plugins: [licences("licences.txt"), executable],
    output: {
      dir: join(pkg.dir, "dist"),
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "[name]-[hash].js",
      codeSplitting,
      comments: false,
      sourcemap: true,
      // The sources are published beside it.
      sourcemapExcludeSources: true,
    },
  });

/** Builds the libraries and programs of the workspace into their `dist` folders, without declarations. Rejects where a source has a fault. */
export async function buildPackages(root) {
  const packages = workspacePackages(root);
  const { version } = packages.find(({ short }) => short === "agent-sdk").manifest;
  // What agents say of themselves: programs bundle the package's sources.
  const define = { AGENT_SDK_VERSION: JSON.stringify(version) };
  const libraries = packages
    .map((pkg) => ({
      pkg,
      entries: Object.fromEntries([
        ...publishedSources(pkg),
        ...Object.entries(furtherEntries[pkg.short] ?? {}),
      ]),
    }))
    .filter(({ entries }) => Object.keys(entries).length > 0);
  const built = new Set([...libraries.map(({ pkg }) => pkg.short), ...Object.keys(programs)]);
  const dirOf = (short) => packages.find((pkg) => pkg.short === short).dir;
  for (const short of built) rmSync(join(dirOf(short), "dist"), { recursive: true, force: true });
  await Promise.all([
    ...libraries.map(({ pkg, entries }) =>
      buildLibrary(pkg, entries, define, { groups: together[pkg.short] ?? [] }),
    ),
    ...libraries
      .filter(({ pkg }) => pkg.short in apart)
      .map(({ pkg }) => buildLibrary(pkg, apart[pkg.short], define, false)),
    ...Object.entries(programs).map(([short, program]) => buildProgram(dirOf(short), program, define)),
    ...Object.entries(quickPrograms).map(([short, entries]) =>
      buildQuickProgram(dirOf(short), entries, define),
    ),
  ]);
}
