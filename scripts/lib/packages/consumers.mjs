import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { repositoryRoot } from "../root.mjs";
import { run } from "../run.mjs";

const exampleTimeoutMs = 30_000;
const writeJson = (file, value) => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);

/**
 * Installs consumers (name → their dependencies, each a range or a tarball) below `dir` in one run, and returns it. Each is a
 * project of its own, as `npm init -y` makes one; siblings come from `tarballs`. Nothing but types is hoisted, so that a
 * package finds only what it declares.
 */
export function installConsumers(pnpm, dir, consumers, tarballs) {
  const workspace = parse(readFileSync(join(repositoryRoot, "pnpm-workspace.yaml"), "utf8"));
  mkdirSync(dir, { recursive: true });
  writeJson(join(dir, "package.json"), { name: "consumers", private: true });
  const settings = {
    packages: ["*"],
    pmOnFail: "ignore",
    hoistPattern: ["@types/*"],
    autoInstallPeers: false,
    // A package that one consumer has beside its optional peers would be the same for all.
    dedupePeerDependents: false,
    allowBuilds: workspace.allowBuilds,
    overrides: tarballs,
  };
  writeFileSync(join(dir, "pnpm-workspace.yaml"), stringify(settings));
  for (const [name, dependencies] of Object.entries(consumers)) {
    mkdirSync(join(dir, name), { recursive: true });
    writeJson(join(dir, name, "package.json"), { name, version: "1.0.0", private: true, dependencies });
  }
  const args = ["install", "--prefer-offline", "--no-frozen-lockfile"];
  return pnpm(args, { cwd: dir, env: { CI: "true" } });
}

/**
 * Loads the entries of all consumers in one Node process, with `import()` and with `require()`. Takes `{ name, specifiers }`
 * of each, below `dir`, and which Node. Returns what went wrong.
 */
export async function loadEntries(dir, consumers, node = process.execPath) {
  const script = `
    const attempt = async (how, specifier, load) => {
      try {
        if (Object.keys(await load()).length === 0) console.log(\`\${how} \${specifier}: exports nothing\`);
      } catch (error) {
        console.log(\`\${how} \${specifier}: \${error.message}\`);
      }
    };
    (async () => {
      for (const { name, specifiers } of ${JSON.stringify(consumers)}) {
        const { byImport, byRequire } = require(\`./\${name}/load.cjs\`);
        for (const specifier of specifiers) {
          await attempt(\`\${name}: require\`, specifier, () => byRequire(specifier));
          await attempt(\`\${name}: import\`, specifier, () => byImport(specifier));
        }
      }
    })();
  `;
  const load =
    "exports.byImport = (specifier) => import(specifier); exports.byRequire = (specifier) => require(specifier);\n";
  for (const { name } of consumers) writeFileSync(join(dir, name, "load.cjs"), load);
  writeFileSync(join(dir, "load.cjs"), script);
  const { code, stdout, output } = await run(node, ["load.cjs"], {
    cwd: dir,
    timeoutMs: 2 * exampleTimeoutMs,
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
