import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { installConsumers, loadEntries, runFile } from "./lib/packages/consumers.mjs";
import * as guides from "./lib/packages/guides.mjs";
import { dependenciesOf, entriesOf, published, withConsumers } from "./lib/packages/outside.mjs";
import { planOf } from "./lib/packages/plan.mjs";
import * as suites from "./lib/packages/suites.mjs";
import { tarballProblems } from "./lib/packages/tarball-rules.mjs";
import { typeProblems, writeTypeProjects } from "./lib/packages/types.mjs";
import { option, report } from "./lib/report.mjs";
import { mapLimit } from "./lib/run.mjs";
import { isCi } from "./lib/skips.mjs";

/** Programs that use several packages, each in a folder of its own; those of the guides also use what others publish. */
const programs = { suites, guides };

const only = option("only", "").split(",").filter(Boolean);
const isChosen = (name) => only.length === 0 || only.includes(name);
const chosen = published.filter(({ short }) => isChosen(short));
const chosenPrograms = Object.keys(programs).filter(isChosen);
const others = chosenPrograms.filter((name) => name !== "guides");

/** Programs hold ES modules as text, which publint takes for their own; each program is run. */
const isOwnFormat = ({ code }) => code === "FILE_INVALID_EXPLICIT_FORMAT";

/** The tarball itself. */
async function checkTarball({ pkg, tarball, files }) {
  const { buffer } = new Uint8Array(readFileSync(tarball));
  const { messages } = await publint({ strict: true, pack: { tarball: buffer } });
  const found = messages
    .filter((message) => !isOwnFormat(message))
    .map((message) => formatMessage(message, pkg.manifest, { color: false }));
  return [...found.map((text) => `publint: ${text}`), ...tarballProblems(files)].map(
    (text) => `${pkg.path}: ${text}`,
  );
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

/** The dependencies of programs, by their names. */
const programDependencies = (names, tarballs) =>
  Object.fromEntries(names.map((name) => [name, programs[name].dependencies(tarballs)]));

/**
 * Installs the programs of the guides below `dir`, and returns their check. If what others publish cannot be installed and CI is not set,
 * prints a line that starts with `skipped: ` and returns none.
 */
async function guideTasks(dir, pnpm, tarballs) {
  const wanted = programDependencies(["guides"], tarballs);
  const { code, output } = await installConsumers(pnpm, dir, wanted, tarballs);
  if (code === 0) return [() => guides.check(join(dir, "guides"))];
  const what = "guides: cannot be installed";
  if (isCi()) return [() => [`${what}: ${output.trim()}`]];
  const [reason] = /\w[^\n]*$/.exec(output.trim()) ?? ["no reason given"];
  process.stdout.write(`skipped: ${what} (${reason})\n`);
  return [];
}

/** All that is looked at, as functions that return findings, the longest first. */
function tasksOf(dir, packed, consumers, ofGuides) {
  const projects = writeTypeProjects(dir, consumers);
  const bins = chosen.flatMap((pkg) =>
    Object.keys(pkg.manifest.bin ?? {}).flatMap((bin) =>
      // The doctor looks for what a program needs beside its own files.
      (bin === "harness" ? ["--help", "doctor"] : ["--help"]).map((argument) => [pkg, bin, argument]),
    ),
  );
  return [
    ...others.map((name) => () => programs[name].check(join(dir, name))),
    ...ofGuides,
    ...[...projects.alone, ...projects.beside].map((config) => () => typeProblems(dir, config)),
    () => loadEntries(dir, entriesOf(consumers)),
    ...consumers
      .filter(({ program }) => program !== undefined)
      .map((consumer) => () => runProgram(dir, consumer)),
    ...bins.map((bin) => () => runBin(dir, ...bin)),
    ...packed.map((one) => () => checkTarball(one)),
  ];
}

const planned = (tarballs) => {
  const plans = chosen.map((pkg) => ({ pkg, ...planOf(pkg, tarballs) }));
  const consumers = plans.flatMap((plan) => plan.consumers);
  return {
    plans,
    consumers,
    wanted: { ...dependenciesOf(consumers), ...programDependencies(others, tarballs) },
  };
};

const findings = await withConsumers(
  "packages",
  planned,
  async ({ dir, base, pnpm, packed, tarballs, plans, consumers }) => {
    const isGuided = chosenPrograms.includes("guides");
    const ofGuides = isGuided ? await guideTasks(join(dir, "others"), pnpm, tarballs) : [];
    const ours = packed.filter(({ pkg }) => chosen.includes(pkg));
    const results = await mapLimit(tasksOf(base, ours, consumers, ofGuides), 2, (task) => task());
    return [
      ...plans.flatMap(({ pkg, findings }) => findings.map((text) => `${pkg.path}: ${text}`)),
      ...results.flat(),
    ];
  },
);
report("packages", findings, [...chosen.map(({ short }) => short), ...chosenPrograms].join(", "));
