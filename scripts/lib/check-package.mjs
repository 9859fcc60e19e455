import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { bundleEntries } from "./bundle-entries.mjs";
import { install, loadEntries, runFile, typeCheck } from "./consumer.mjs";
import { fencesOf, typescriptFences } from "./fences.mjs";
import { layers } from "./layers-table.mjs";
import { pageProblems } from "./page-rules.mjs";
import { repositoryRoot } from "./root.mjs";
import { run } from "./run.mjs";
import { packagesOf, toJavaScript } from "./snippets.mjs";
import { packagesNamedBy, tarballProblems } from "./tarball-rules.mjs";
import { publishedEntries } from "./workspace.mjs";

const attw = join(repositoryRoot, "node_modules/@arethetypeswrong/cli/dist/index.js");

async function lintTarball({ pkg, tarball }) {
  const bytes = readFileSync(tarball);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const { messages } = await publint({ strict: true, pack: { tarball: buffer } });
  const problems = messages.map(
    (message) => `publint: ${formatMessage(message, pkg.manifest, { color: false })}`,
  );
  if (publishedEntries(pkg).length === 0) return problems;
  const args = [
    attw,
    tarball,
    "--profile",
    "esm-only",
    "--no-color",
    "--no-emoji",
    "--format",
    "table-flipped",
  ];
  const { code, output } = await run(process.execPath, args);
  return code === 0 ? problems : [...problems, `attw: ${output.trim().replaceAll("\n", "\n  ")}`];
}

/** The range of a package that the example or an optional peer needs: a tarball of ours, or what the workspace uses. */
function rangeOf(name, { manifest }, tarballs) {
  const { devDependencies = {}, dependencies = {}, peerDependencies = {} } = manifest;
  return tarballs[name] ?? devDependencies[name] ?? dependencies[name] ?? peerDependencies[name];
}

function exampleOf(pkg) {
  const file = join(pkg.dir, "README.md");
  if (!existsSync(file)) return { installLine: "" };
  const text = readFileSync(file, "utf8");
  const example = typescriptFences(fencesOf(text)).find(({ runs }) => runs);
  const installs = text.split("\n").filter((line) => /\b(?:npm (?:install|i|add)|pnpm add|npx)\b/.test(line));
  return { example, installLine: installs.join(" ") };
}

/** Type-checks and loads entries, and with them the example, where there is one to do now. */
async function checkEntries(dir, entries, { isBrowser, example, judgesAll = false }) {
  const specifiers = entries.map(({ specifier }) => specifier);
  const lines = specifiers.map((specifier, index) => `import * as entry${index} from "${specifier}";`);
  const names = specifiers.map((_, index) => `entry${index}`);
  const files = entries.length === 0 ? [] : ["entries.ts"];
  writeFileSync(
    join(dir, "entries.ts"),
    `${lines.join("\n")}\nexport const entries = [${names.join(", ")}];\n`,
  );
  if (example !== undefined) writeFileSync(join(dir, "example.ts"), example.code);
  const projects = {
    nodenext: example === undefined ? files : [...files, "example.ts"],
    [isBrowser ? "browser" : "bundler"]: files,
  };
  const problems = await typeCheck(dir, projects, { judgesAll });
  if (entries.length > 0) {
    problems.push(...(await loadEntries(dir, specifiers)));
    problems.push(...(await bundleEntries(dir, specifiers, { isBrowser })));
  }
  if (example === undefined) return problems;
  writeFileSync(join(dir, "example.mjs"), toJavaScript(example.code));
  const problem = await runFile(dir, "example.mjs");
  return problem === undefined
    ? problems
    : [...problems, `README example (line ${example.line}): ${problem}`];
}

async function checkBins(dir, { manifest, name }) {
  const problems = [];
  for (const [bin, file] of Object.entries(manifest.bin ?? {})) {
    // The doctor looks for what a program needs beside its own files.
    for (const argument of bin === "harness" ? ["--help", "doctor"] : ["--help"]) {
      const problem = await runFile(dir, join(dir, "node_modules", name, file), [argument]);
      if (problem !== undefined) problems.push(`${bin} ${argument}: ${problem}`);
    }
  }
  return problems;
}

/**
 * The other major versions of optional peers that a package takes: what the root installs under another name
 * (`"ai-7": "npm:ai@7.0.173"`), by the name of the peer.
 */
function otherMajors({ manifest }) {
  const { devDependencies } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8"));
  const aliased = Object.values(devDependencies)
    .map((range) => /^npm:(.+)@([^@]+)$/.exec(range))
    .filter((match) => match !== null);
  const peers = Object.keys(manifest.peerDependenciesMeta ?? {});
  return Object.fromEntries(
    aliased.filter(([, name]) => peers.includes(name)).map(([, name, version]) => [name, version]),
  );
}

/** The entries and the example once more, beside the other major versions of the optional peers. */
async function checkOtherMajors({ pkg, dir, needs, late, example, tarballs, pnpm, isBrowser }) {
  const others = otherMajors(pkg);
  const names = Object.entries(others).map(([name, version]) => `${name} ${version}`);
  if (names.length === 0) return [];
  const wanted = { [pkg.name]: tarballs[pkg.name], ...needs.more, ...others };
  const { code, output } = await install(pnpm, dir, wanted, tarballs);
  const problems =
    code === 0
      ? await checkEntries(dir, late, { isBrowser, example })
      : [`cannot be installed: ${output.trim()}`];
  return problems.map((problem) => `with ${names.join(", ")}: ${problem}`);
}

/** What the example and the entries with optional peers need besides the package: `{ more, findings }`. */
function needsOf({ pkg, example, installLine, peers, tarballs }) {
  const imported = example === undefined ? [] : packagesOf(example.code).filter((name) => name !== pkg.name);
  const unnamed = imported.filter((name) => !installLine.includes(name));
  const wanted = [...new Set([...imported, ...peers])];
  const unknown = wanted.filter((name) => rangeOf(name, pkg, tarballs) === undefined);
  return {
    more: Object.fromEntries(wanted.map((name) => [name, rangeOf(name, pkg, tarballs)])),
    isComplete: unknown.length === 0,
    findings: [
      ...unnamed.map((name) => `README.md's install line does not name ${name}, which its example imports`),
      ...unknown.map((name) => `README.md's example imports ${name}, which the package does not know`),
    ],
  };
}

/**
 * Judges one packed package from outside: the tarball itself; then alone in a fresh project, all entries that need
 * no optional peer; then, with the peers and with what the README's example imports, the other entries and the
 * example. Takes `{ pkg, tarball, files }`, the folder to work in, all tarballs by name, and pnpm. Returns findings.
 */
export async function checkPackage(packed, dir, tarballs, pnpm) {
  const { pkg, files } = packed;
  const findings = await lintTarball(packed);
  const alone = await install(pnpm, dir, { [pkg.name]: tarballs[pkg.name] }, tarballs);
  if (alone.code !== 0) return [...findings, `cannot be installed: ${alone.output.trim()}`];

  const installed = join(dir, "node_modules", pkg.name);
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  findings.push(...tarballProblems(files, manifest), ...pageProblems(pkg.path, installed));
  const optional = Object.keys(manifest.peerDependenciesMeta ?? {});
  const needsPeer = ({ files: targets }) =>
    targets.some((file) => optional.some((peer) => packagesNamedBy(installed, file).has(peer)));
  const entries = publishedEntries({ name: pkg.name, manifest });
  const browser = layers[pkg.short]?.browser ?? [];
  const isBrowser = (list) => list.every(({ subpath }) => browser === "*" || browser.includes(subpath));
  const early = entries.filter((entry) => !needsPeer(entry));
  const late = entries.filter(needsPeer);

  const { example, installLine } = exampleOf(pkg);
  if (example === undefined && entries.length > 0) findings.push("README.md has no ```ts example that runs");
  const needs = needsOf({ pkg, example, installLine, peers: late.length > 0 ? optional : [], tarballs });
  findings.push(...needs.findings);
  const isOneStep = Object.keys(needs.more).length === 0;
  const first = {
    isBrowser: isBrowser(early),
    example: isOneStep ? example : undefined,
    judgesAll: true,
  };
  findings.push(...(await checkEntries(dir, early, first)), ...(await checkBins(dir, pkg)));
  if (isOneStep || !needs.isComplete) return findings;

  const again = await install(pnpm, dir, { [pkg.name]: tarballs[pkg.name], ...needs.more }, tarballs);
  if (again.code !== 0) {
    return [
      ...findings,
      `cannot be installed with ${Object.keys(needs.more).join(", ")}: ${again.output.trim()}`,
    ];
  }
  findings.push(...(await checkEntries(dir, late, { isBrowser: isBrowser(late), example })));
  const other = { pkg, dir: `${dir}-other`, needs, late, example, tarballs, pnpm };
  return [...findings, ...(await checkOtherMajors({ ...other, isBrowser: isBrowser(late) }))];
}
