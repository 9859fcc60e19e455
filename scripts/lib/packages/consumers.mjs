import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { repositoryRoot } from "../root.mjs";
import { mapLimit, run } from "../run.mjs";

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

/** Loads entries with `import()` and with `require()`, and prints what goes wrong. */
const loader = (specifiers) => `
  const ways = { require, import: (specifier) => import(specifier) };
  (async () => {
    for (const specifier of ${JSON.stringify(specifiers)})
      for (const [how, load] of Object.entries(ways))
        try {
          if (Object.keys(await load(specifier)).length === 0) console.log(how, specifier, "exports nothing");
        } catch (error) {
          console.log(how, specifier, error.message);
        }
  })();
`;

/** Loads the entries of consumers below `dir`, `{ name, specifiers }`, each in a process of that Node. Returns what went wrong. */
export async function loadEntries(dir, consumers, node = process.execPath) {
  const found = await mapLimit(consumers, 2, async ({ name, specifiers }) => {
    const options = { cwd: join(dir, name), timeoutMs: exampleTimeoutMs };
    const { code, stdout, output } = await run(node, ["-e", loader(specifiers)], options);
    const lines = stdout.split("\n").filter(Boolean);
    return (code === 0 ? lines : [`exits with ${code}: ${output.trim()}`]).map((line) => `${name}: ${line}`);
  });
  return found.flat();
}

/** Runs a JavaScript file of the consumer; returns a message if it fails. */
export async function runFile(dir, file, args = []) {
  const { code, output } = await run(process.execPath, [file, ...args], {
    cwd: dir,
    timeoutMs: exampleTimeoutMs,
  });
  return code === 0 ? undefined : `exit ${code}\n  ${output.trimEnd().split("\n").slice(-15).join("\n  ")}`;
}
