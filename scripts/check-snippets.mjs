import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { compile } from "./lib/compile.mjs";
import { docFencesOf, fencesOf, typescriptFences } from "./lib/fences.mjs";
import { pagePrograms, printedCodes } from "./lib/page-programs.mjs";
import { option, report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { mapLimit, run, stopChildrenOnSignals } from "./lib/run.mjs";
import { packagesOf, toJavaScript } from "./lib/snippets.mjs";
import { withTempDir } from "./lib/temp.mjs";
import { filesBelow, workspacePackages } from "./lib/workspace.mjs";

const timeoutMs = 30_000;
const packages = workspacePackages(repositoryRoot);
const findings = [];

/** Markdown files to look at, from the root of the repository; none: all of them, and the doc comments too. */
const only = option("files", "").split(",").filter(Boolean);
const placeOf = (file) => relative(repositoryRoot, file).replaceAll("\\", "/");
const isChosen = (file) => only.length === 0 || only.includes(placeOf(file));

const readmes = [repositoryRoot, ...packages.map(({ dir }) => dir)].map((dir) => join(dir, "README.md"));
const pages = filesBelow(join(repositoryRoot, "docs"), [".md"], { skip: [".vitepress"] });
const sources = packages.flatMap(({ dir }) => filesBelow(join(dir, "src"), [".ts", ".tsx"]));

/** READMEs and pages that print a program and the command that starts it. */
const programPages = [...readmes, ...pages]
  // That of the suites judges programs in Python, which the reader brings.
  .filter((file) => existsSync(file) && isChosen(file) && placeOf(file) !== "conformance/README.md")
  .map((file) => ({ file, ...pagePrograms(readFileSync(file, "utf8")) }))
  .filter(({ files, commands }) => files.length > 0 && commands.length > 0);

function collect() {
  const from = (files, fences, mayRun) =>
    files
      .filter((file) => existsSync(file) && isChosen(file))
      .flatMap((file) =>
        typescriptFences(fences(readFileSync(file, "utf8"))).map((fence) => ({
          ...fence,
          place: placeOf(file),
          dir: dirname(file),
          runs: mayRun && fence.runs,
        })),
      );
  return [
    ...from(readmes, fencesOf, true),
    ...from(pages, fencesOf, false),
    ...from(sources, docFencesOf, false),
  ];
}

/** The programs of these pages, which a reader may also paste into a strict TypeScript file. */
const collectPrograms = (dir) =>
  programPages.flatMap(({ file, files }, number) =>
    files
      .filter(({ isProgram }) => isProgram)
      .map(({ name, code, line }) => ({
        code,
        line,
        place: placeOf(file),
        dir: dirname(file),
        file: join(dir, "pasted", String(number), name.replace(/\.m?js$/, ".mts")),
      })),
  );

/** Links a package into the snippets' own node_modules: a sibling from the workspace, another one from the store. */
function link(name, owner, modules) {
  const target = join(modules, name);
  if (existsSync(target)) return true;
  const sibling = packages.find((pkg) => pkg.name === name)?.dir;
  const candidates = [
    sibling,
    join(owner, "node_modules", name),
    join(repositoryRoot, "node_modules", name),
    join(repositoryRoot, "node_modules/.pnpm/node_modules", name),
  ];
  const found = candidates.find((dir) => dir !== undefined && existsSync(dir));
  if (found === undefined) return false;
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(found, target, "junction");
  return true;
}

async function typeCheck(dir, snippets) {
  const config = join(dir, "tsconfig.json");
  const settings = {
    extends: join(repositoryRoot, "tsconfig.base.json"),
    compilerOptions: { noUnusedLocals: false, noUnusedParameters: false, moduleDetection: "force" },
    files: snippets.map(({ file }) => file),
  };
  writeFileSync(config, JSON.stringify(settings));
  const { code, output } = await compile(config, { cwd: dir });
  const problems = [...output.matchAll(/^(.+?)\((\d+),\d+\): error TS\d+: (.*(?:\n {2}.*)*)/gm)];
  if (code !== 0 && problems.length === 0) findings.push(`the compiler ends with ${code}: ${output.trim()}`);
  for (const [, file, line, message] of problems) {
    const snippet = snippets.find((each) => each.file === join(dir, file));
    const place = snippet === undefined ? file : `${snippet.place}:${snippet.line + Number(line) - 1}`;
    findings.push(`${place}: ${message}`);
  }
}

/** What a page says that its programs print must be in their output. */
function expectPrinted(codes, output, place) {
  for (const code of codes)
    if (!output.includes(code)) findings.push(`${place}: says that it prints ${code}, and does not`);
}

async function runSnippet(snippet, dir) {
  const script = snippet.file.replace(/\.ts$/, ".mjs");
  const cwd = join(dir, "run", String(snippet.number));
  mkdirSync(cwd, { recursive: true });
  writeFileSync(script, toJavaScript(snippet.code));
  const { code, output } = await run(process.execPath, [script], { cwd, timeoutMs });
  if (code !== 0) {
    const tail = output.trimEnd().split("\n").slice(-15).join("\n  ");
    findings.push(`${snippet.place}:${snippet.line}: does not run (exit ${code})\n  ${tail}`);
  } else expectPrinted(printedCodes(snippet.code), output, `${snippet.place}:${snippet.line}`);
}

/** Runs the programs of a page as a reader would: in one folder, in their order, with `npx` for our commands. */
async function runPage({ file, files, commands }, dir, modules) {
  const place = placeOf(file);
  for (const { name, code, line, isProgram } of files) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), code);
    for (const dependency of isProgram ? packagesOf(code) : []) {
      if (!link(dependency, dirname(file), modules))
        findings.push(`${place}:${line}: ${dependency} is not installed`);
    }
  }
  const env = { XDG_STATE_HOME: join(dir, ".state") };
  let printed = "";
  for (const { bin, args, line, exitCode = 0, printed: codes } of commands) {
    const all = bin === undefined ? args : [join(modules, ".bin", bin), ...args];
    const { code, output } = await run(process.execPath, all, { cwd: dir, env, timeoutMs });
    if (code !== exitCode)
      findings.push(
        `${place}:${line}: ${bin ?? "node"} ${args.join(" ")} ends with ${code}\n  ${output.trimEnd()}`,
      );
    expectPrinted(codes, output, `${place}:${line}`);
    printed += output;
  }
  for (const { code, line, isProgram } of files)
    if (isProgram) expectPrinted(printedCodes(code), printed, `${place}:${line}`);
  return commands.length;
}

/** The commands that pages start through `npx`. */
function linkCommands(modules) {
  for (const name of ["@harnesskit/cli", "@harnesskit/conformance"]) {
    const { dir, manifest } = packages.find((pkg) => pkg.name === name);
    for (const [command, file] of Object.entries(manifest.bin)) {
      mkdirSync(join(modules, ".bin"), { recursive: true });
      symlinkSync(join(dir, file), join(modules, ".bin", command));
    }
  }
}

async function runPages(dir) {
  const modules = join(dir, "pages/node_modules");
  linkCommands(modules);
  const counts = await mapLimit(programPages, 2, (page) =>
    runPage(page, join(dir, "pages", placeOf(page.file).replaceAll("/", "-")), modules),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

stopChildrenOnSignals();
const collected = collect();
const count = await withTempDir(join(repositoryRoot, ".cache/snippets-"), async (dir) => {
  writeFileSync(join(dir, "package.json"), '{ "type": "module" }\n');
  const snippets = collected.map((snippet, number) => ({
    ...snippet,
    number,
    file: join(dir, `${number}.ts`),
  }));
  const checked = [...snippets, ...collectPrograms(dir)];
  for (const { code, place, line, dir: owner, file } of checked) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, code);
    for (const name of packagesOf(code)) {
      if (!link(name, owner, join(dir, "node_modules")))
        findings.push(`${place}:${line}: ${name} is not installed`);
    }
  }
  await typeCheck(dir, checked);
  const running = snippets.filter(({ runs }) => runs);
  await mapLimit(running, 2, (snippet) => runSnippet(snippet, dir));
  return running.length + (await runPages(dir));
});
report("snippets", findings.sort(), `${collected.length} checked, ${count} of them run`);
