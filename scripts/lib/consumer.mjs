import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { repositoryRoot } from "./root.mjs";
import { run } from "./run.mjs";

const checker = join(repositoryRoot, "scripts/lib/type-check.mjs");
const exampleTimeoutMs = 30_000;
const writeJson = (file, value) => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);

const strict = {
  target: "ES2023",
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  moduleDetection: "force",
  typeRoots: [join(repositoryRoot, "node_modules/@types")],
};

/** The ways in which a consumer may resolve modules, as TypeScript settings. */
const resolutions = {
  nodenext: { ...strict, module: "NodeNext", moduleResolution: "NodeNext", lib: ["ES2023"], types: ["node"] },
  bundler: {
    ...strict,
    module: "ESNext",
    moduleResolution: "bundler",
    lib: ["ES2023", "DOM"],
    types: ["node"],
  },
  browser: {
    ...strict,
    module: "ESNext",
    moduleResolution: "bundler",
    lib: ["ES2023", "DOM", "DOM.AsyncIterable", "ESNext.Disposable"],
    types: [],
  },
};

/** Installs `dependencies` (name → range or tarball) into `dir`; siblings come from `tarballs`. Returns the run. */
export function install(pnpm, dir, dependencies, tarballs) {
  const workspace = parse(readFileSync(join(repositoryRoot, "pnpm-workspace.yaml"), "utf8"));
  mkdirSync(dir, { recursive: true });
  writeJson(join(dir, "package.json"), { name: "consumer", private: true, type: "module", dependencies });
  const settings = {
    packages: ["."],
    pmOnFail: "ignore",
    allowBuilds: workspace.allowBuilds,
    overrides: tarballs,
  };
  writeFileSync(join(dir, "pnpm-workspace.yaml"), stringify(settings));
  const args = ["install", "--prefer-offline", "--no-frozen-lockfile", "--config.auto-install-peers=false"];
  return pnpm(args, { cwd: dir, env: { CI: "true" } });
}

/**
 * Type-checks a consumer's files: `projects` maps one of the {@link resolutions} to file names in `dir`. Returns the
 * compiler's lines about the consumer and about our own packages, and, with `judgesAll`, about all that they depend on.
 */
export async function typeCheck(dir, projects, { judgesAll }) {
  const configs = Object.entries(projects)
    .filter(([, files]) => files.length > 0)
    .map(([resolution, files]) => {
      const config = `tsconfig.${resolution}.json`;
      writeJson(join(dir, config), { compilerOptions: resolutions[resolution], files });
      return config;
    });
  if (configs.length === 0) return [];
  const { code, output } = await run(
    process.execPath,
    [checker, ...(judgesAll ? ["--all"] : []), ...configs],
    { cwd: dir },
  );
  return code === 0 ? [] : [output.trim()];
}

/** Loads each entry in one Node process, with `import()` and with `require()`. Returns what went wrong. */
export async function loadEntries(dir, specifiers) {
  const script = `
    const specifiers = ${JSON.stringify(specifiers)};
    const attempt = async (how, specifier, load) => {
      try {
        if (Object.keys(await load()).length === 0) console.log(\`\${how} \${specifier}: exports nothing\`);
      } catch (error) {
        console.log(\`\${how} \${specifier}: \${error.message}\`);
      }
    };
    (async () => {
      for (const specifier of specifiers) {
        await attempt("require", specifier, () => require(specifier));
        await attempt("import", specifier, () => import(specifier));
      }
    })();
  `;
  writeFileSync(join(dir, "load.cjs"), script);
  const { code, stdout, output } = await run(process.execPath, ["load.cjs"], {
    cwd: dir,
    timeoutMs: exampleTimeoutMs,
  });
  const lines = stdout.split("\n").filter(Boolean);
  return code === 0 ? lines : [...lines, `loading the entries exits with ${code}: ${output.trim()}`];
}

/** Runs a JavaScript file of the consumer; returns a message if it fails. */
export async function runFile(dir, file, args = []) {
  const { code, output } = await run(process.execPath, [file, ...args], {
    cwd: dir,
    timeoutMs: exampleTimeoutMs,
  });
  return code === 0 ? undefined : `exit ${code}\n  ${output.trimEnd().split("\n").slice(-15).join("\n  ")}`;
}
