import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleSizes, checkBundles } from "./lib/packages/bundles.mjs";
import { installConsumers, loadEntries, runFile } from "./lib/packages/consumers.mjs";
import { checkEmbedder, embedderDependencies } from "./lib/packages/embedder.mjs";
import { installedSize } from "./lib/packages/install-sizes.mjs";
import { manifestProblems, sharedKeywords } from "./lib/packages/manifest-rules.mjs";
import { checkMastra } from "./lib/packages/mastra.mjs";
import { pack } from "./lib/packages/pack.mjs";
import { pageProblems } from "./lib/packages/page-rules.mjs";
import { planOf } from "./lib/packages/plan.mjs";
import { publintProblems } from "./lib/packages/publint.mjs";
import { compareTable, writeTable } from "./lib/packages/size-tables.mjs";
import { checkSuites, suitesDependencies } from "./lib/packages/suites.mjs";
import { mapProblems, tarballProblems } from "./lib/packages/tarball-rules.mjs";
import { checkTypes, writeTypeProjects } from "./lib/packages/types.mjs";
import { directPnpm } from "./lib/pnpm.mjs";
import { option, report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { mapLimit, stopChildrenOnSignals } from "./lib/run.mjs";
import { withTempDir } from "./lib/temp.mjs";
import { workspacePackages } from "./lib/workspace.mjs";

const only = option("only", "").split(",").filter(Boolean);
const writesSizes = process.argv.includes("--write-sizes");
const isChosen = (name) => only.length === 0 || only.includes(name);
const published = workspacePackages(repositoryRoot).filter(({ isPublic }) => isPublic);
const chosen = published.filter(({ short }) => isChosen(short));

/** The tarball itself, and what is installed of it. */
async function checkTarball({ pkg, tarball, files }, dir) {
  const installed = join(dir, pkg.short, "node_modules", pkg.name);
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  const findings = [
    ...(await publintProblems(pkg, tarball)),
    ...tarballProblems(files, manifest),
    ...mapProblems(installed, files),
    ...manifestProblems(pkg),
    ...pageProblems(pkg.path, installed),
  ];
  return findings.map((text) => `${pkg.path}: ${text}`);
}

async function runProgram(dir, { name, pkg, program }) {
  writeFileSync(join(dir, name, program.name), program.code);
  const problem = await runFile(join(dir, name), program.name);
  return problem === undefined ? [] : [`${name}: ${pkg.path}/README.md:${program.line}: ${problem}`];
}

async function runBin(dir, pkg, bin, argument) {
  const file = join(dir, pkg.short, "node_modules", pkg.name, pkg.manifest.bin[bin]);
  const problem = await runFile(join(dir, pkg.short), file, [argument]);
  return problem === undefined ? [] : [`${pkg.path}: ${bin} ${argument}: ${problem}`];
}

const kilobytes = (bytes) => Math.ceil(bytes / 1000);

/** The figures of docs/sizes.md: compared, or written with --write-sizes. */
async function checkSizes(dir, consumers) {
  const alone = consumers.filter(({ isAlone }) => isAlone);
  const installed = alone.map(({ name, pkg }) => {
    const { bytes, packages } = installedSize(join(dir, name));
    return [pkg.name, [kilobytes(bytes), packages]];
  });
  const bundles = await bundleSizes(
    dir,
    consumers.filter(({ name }) => !name.endsWith("-and-other")),
  );
  const tables = [
    {
      mark: "installed",
      head: ["package", "installed, kB", "packages"],
      rows: Object.fromEntries(installed),
    },
    {
      mark: "bundles",
      head: ["entry", "kB with esbuild"],
      rows: Object.fromEntries(Object.entries(bundles).map(([name, bytes]) => [name, [kilobytes(bytes)]])),
    },
  ];
  const command = "node scripts/check-packages.mjs --write-sizes";
  if (!writesSizes) return tables.flatMap((table) => compareTable(table, "kB", command));
  for (const table of tables) writeTable(table);
  return [];
}

/** All that is looked at, as functions that return findings, the longest first. */
function tasksOf(dir, packed, consumers, mastra) {
  const programs = consumers.filter(({ program }) => program !== undefined);
  const projects = writeTypeProjects(dir, consumers);
  const bins = chosen.flatMap((pkg) =>
    Object.keys(pkg.manifest.bin ?? {}).flatMap((bin) =>
      // The doctor looks for what a program needs beside its own files.
      (bin === "harness" ? ["--help", "doctor"] : ["--help"]).map((argument) => [pkg, bin, argument]),
    ),
  );
  const loaded = consumers
    .filter(({ entries }) => entries.length > 0)
    .map(({ name, entries }) => ({ name, specifiers: entries.map(({ specifier }) => specifier) }));
  return [
    ...(isChosen("suites") ? [() => checkSuites(join(dir, "suites"))] : []),
    ...(isChosen("mastra") ? [mastra] : []),
    () => checkTypes(dir, projects.alone, { judgesAll: true }),
    () => checkTypes(dir, projects.beside, { judgesAll: false }),
    ...(isChosen("embedder") ? [() => checkEmbedder(join(dir, "embedder"))] : []),
    () => loadEntries(dir, loaded),
    ...programs.map((consumer) => () => runProgram(dir, consumer)),
    ...bins.map((bin) => () => runBin(dir, ...bin)),
    () => checkBundles(dir, consumers),
    ...packed.map((one) => () => checkTarball(one, dir)),
    ...(only.length === 0 ? [() => checkSizes(dir, consumers), () => sharedKeywords(published)] : []),
  ];
}

stopChildrenOnSignals();
const findings = await withTempDir(join(realpathSync(tmpdir()), "harnesskit-packages-"), async (dir) => {
  const pnpm = await directPnpm();
  const { packed, problem } = await pack(pnpm, published, dir);
  if (problem !== undefined) return [problem];
  const tarballs = Object.fromEntries(packed.map(({ pkg, tarball }) => [pkg.name, `file:${tarball}`]));
  const plans = chosen.map((pkg) => ({ pkg, ...planOf(pkg, tarballs) }));
  const consumers = plans.flatMap((plan) => plan.consumers);
  const wanted = Object.fromEntries(consumers.map(({ name, dependencies }) => [name, dependencies]));
  if (isChosen("embedder")) wanted.embedder = embedderDependencies(tarballs);
  if (isChosen("suites")) wanted.suites = suitesDependencies(tarballs);
  const base = join(dir, "consumers");
  const { code, output } = await installConsumers(pnpm, base, wanted, tarballs);
  if (code !== 0) return [`the packages cannot be installed: ${output.trim()}`];
  const tasks = tasksOf(
    base,
    packed.filter(({ pkg }) => chosen.includes(pkg)),
    consumers,
    () => checkMastra(join(dir, "mastra"), pnpm, tarballs),
  );
  const results = await mapLimit(tasks, 2, (task) => task());
  return [
    ...plans.flatMap(({ pkg, findings }) => findings.map((text) => `${pkg.path}: ${text}`)),
    ...results.flat(),
  ];
});
report(
  "packages",
  findings,
  [...chosen.map(({ short }) => short), "embedder", "suites", "mastra"].join(", "),
);
