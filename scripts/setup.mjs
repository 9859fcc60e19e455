import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
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

/** Runs one step of the set-up; prints what it said only when it fails. */
async function step(title, args) {
  const result = await pnpm(args, { env: { CI: "true" } });
  if (result.code === 0) return result.ms;
  process.stderr.write(`${title} failed: pnpm ${args.join(" ")}\n\n${result.output.trimEnd()}\n`);
  if (/E(AI_AGAIN|NOTFOUND|CONNREFUSED|TIMEDOUT)/.test(result.output)) {
    process.stderr.write(
      "\nThe npm registry cannot be reached: check the network or the proxy and try again.\n",
    );
  }
  process.exit(result.code === null || result.code === 0 ? 1 : result.code);
}

checkNodeVersion();
stopChildrenOnSignals();
if (!isFresh()) {
  const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
  rmSync(stampFile, { force: true });
  process.stdout.write("setup: installing the dependencies …\n");
  const sources = sourceDigest(repositoryRoot);
  const installMs = await step("Installing the dependencies", ["install", "--frozen-lockfile"]);
  process.stdout.write(`setup: installed in ${seconds(installMs)}, building the packages …\n`);
  const emitted = join(repositoryRoot, ".cache/types");
  rmSync(emitted, { recursive: true, force: true });
  const begun = performance.now();
  await Promise.all([
    step("Building the packages", [
      "exec",
      "turbo",
      "run",
      "build",
      "--no-daemon",
      "--output-logs=errors-only",
      "--cache-dir=.turbo/cache",
    ]),
    step("Writing the type declarations", ["exec", "tsc", "--pretty", "false", "-p", "tsconfig.types.json"]),
  ]);
  placeDeclarations(repositoryRoot, emitted);
  placePages(repositoryRoot);
  rmSync(emitted, { recursive: true, force: true });
  const buildMs = performance.now() - begun;
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, `${JSON.stringify({ sources, outputs: outputDigest(repositoryRoot) })}\n`);
  process.stdout.write(`setup: built in ${seconds(buildMs)}\n`);
}
