import { realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installConsumers, loadEntries, runFile } from "./lib/packages/consumers.mjs";
import { checkEmbedder, embedderDependencies } from "./lib/packages/embedder.mjs";
import { checkFrameworks } from "./lib/packages/frameworks.mjs";
import { checkMastra } from "./lib/packages/mastra.mjs";
import { pack } from "./lib/packages/pack.mjs";
import { planOf } from "./lib/packages/plan.mjs";
import { publintProblems } from "./lib/packages/publint.mjs";
import { checkSuites, suitesDependencies } from "./lib/packages/suites.mjs";
import { tarballProblems } from "./lib/packages/tarball-rules.mjs";
import { typeProblems, writeTypeProjects } from "./lib/packages/types.mjs";
import { directPnpm } from "./lib/pnpm.mjs";
import { option, report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { mapLimit, stopChildrenOnSignals } from "./lib/run.mjs";
import { withTempDir } from "./lib/temp.mjs";
import { workspacePackages } from "./lib/workspace.mjs";

const only = option("only", "").split(",").filter(Boolean);
const isChosen = (name) => only.length === 0 || only.includes(name);
const published = workspacePackages(repositoryRoot).filter(({ isPublic }) => isPublic);
const chosen = published.filter(({ short }) => isChosen(short));

/** The tarball itself. */
async function checkTarball({ pkg, tarball, files }) {
  const findings = [...(await publintProblems(pkg, tarball)), ...tarballProblems(files)];
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

/** All that is looked at, as functions that return findings, the longest first. */
function tasksOf(dir, packed, consumers, { mastra, frameworks }) {
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
    ...(isChosen("frameworks") ? [frameworks] : []),
    ...(isChosen("mastra") ? [mastra] : []),
    ...[...projects.alone, ...projects.beside].map((config) => () => typeProblems(dir, config)),
    ...(isChosen("embedder") ? [() => checkEmbedder(join(dir, "embedder"))] : []),
    () => loadEntries(dir, loaded),
    ...programs.map((consumer) => () => runProgram(dir, consumer)),
    ...bins.map((bin) => () => runBin(dir, ...bin)),
    ...packed.map((one) => () => checkTarball(one)),
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
    {
      mastra: () => checkMastra(join(dir, "mastra"), pnpm, tarballs),
      frameworks: () => checkFrameworks(join(dir, "frameworks"), pnpm, tarballs),
    },
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
  [...chosen.map(({ short }) => short), "embedder", "suites", "mastra", "frameworks"].join(", "),
);
