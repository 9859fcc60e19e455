import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { compile } from "./lib/compile.mjs";
import { placeDeclarations } from "./lib/declarations.mjs";
import { placePages } from "./lib/place-pages.mjs";
import { pnpm } from "./lib/pnpm.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { stopChildrenOnSignals } from "./lib/run.mjs";
import { outputDigest, sourceDigest } from "./lib/stamp.mjs";

const stampFile = join(repositoryRoot, "node_modules/.cache/harnesskit/setup.json");
const minimum = [20, 19];

function checkNodeVersion() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > minimum[0] || (major === minimum[0] && minor >= minimum[1])) return;
  process.stderr.write(
    `harnesskit needs Node.js ${minimum.join(".")} or newer; this is ${process.version}. ` +
      "Install a newer one from https://nodejs.org and try again.\n",
  );
  process.exit(1);
}

function isFresh() {
  try {
    const stamp = JSON.parse(readFileSync(stampFile, "utf8"));
    const outputs = outputDigest(repositoryRoot);
    return (
      outputs !== undefined && stamp.outputs === outputs && stamp.sources === sourceDigest(repositoryRoot)
    );
  } catch {
    return false;
  }
}

/** Waits for one step of the set-up, and prints what it said only when it fails. Returns its milliseconds. */
async function step(title, running) {
  const result = await running;
  if (result.code === 0) return result.ms;
  process.stderr.write(`${title} failed:\n\n${result.output.trimEnd()}\n`);
  if (/E(AI_AGAIN|NOTFOUND|CONNREFUSED|TIMEDOUT)/.test(result.output)) {
    process.stderr.write(
      "\nThe npm registry cannot be reached: check the network or the proxy and try again.\n",
    );
  }
  process.exit(result.code === null || result.code === 0 ? 1 : result.code);
}

const withPnpm = (args) => pnpm(args, { env: { CI: "true" } });

checkNodeVersion();
stopChildrenOnSignals();
if (!isFresh()) {
  const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
  rmSync(stampFile, { force: true });
  process.stdout.write("setup: installing the dependencies …\n");
  const sources = sourceDigest(repositoryRoot);
  const installMs = await step("Installing the dependencies", withPnpm(["install", "--frozen-lockfile"]));
  process.stdout.write(`setup: installed in ${seconds(installMs)}, building the packages …\n`);
  // What it needs is there only now.
  const { buildPackages } = await import("./lib/build/packages.mjs");
  const emitted = join(repositoryRoot, ".cache/types");
  rmSync(emitted, { recursive: true, force: true });
  const begun = performance.now();
  await buildPackages(repositoryRoot);
  await Promise.all([
    step("Building the pages and schemas", withPnpm(["--recursive", "run", "build"])),
    step("Writing the type declarations", compile("tsconfig.types.json")),
  ]);
  placeDeclarations(repositoryRoot, emitted);
  placePages(repositoryRoot);
  rmSync(emitted, { recursive: true, force: true });
  const buildMs = performance.now() - begun;
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, `${JSON.stringify({ sources, outputs: outputDigest(repositoryRoot) })}\n`);
  process.stdout.write(`setup: built in ${seconds(buildMs)}\n`);
}
