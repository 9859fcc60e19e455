import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { compile } from "../compile.mjs";
import { repositoryRoot } from "../root.mjs";

/** A consumer's own files, and our declarations: the faults of an optional peer's declarations are the peer's own. */
const isOurs = (line) => !line.startsWith("node_modules/") || line.includes("/node_modules/@harnesskit/");

const strict = {
  target: "ES2023",
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  moduleDetection: "force",
  types: ["node"],
  typeRoots: [join(repositoryRoot, "node_modules/@types")],
};

/** The ways in which a consumer may resolve modules, as TypeScript settings. */
const resolutions = {
  nodenext: { ...strict, module: "NodeNext", moduleResolution: "NodeNext", lib: ["ES2023"] },
  bundler: { ...strict, module: "ESNext", moduleResolution: "bundler", lib: ["ES2023", "DOM"] },
  browser: {
    ...strict,
    module: "ESNext",
    moduleResolution: "bundler",
    lib: ["ES2023", "DOM", "DOM.AsyncIterable", "ESNext.Disposable"],
    types: [],
  },
};

const importsOfAll = (specifiers) => {
  const names = specifiers.map((_, index) => `entry${index}`);
  return {
    module: `${specifiers.map((one, index) => `import * as entry${index} from "${one}";\n`).join("")}export const entries = [${names.join(", ")}];\n`,
    common: `${specifiers.map((one, index) => `import entry${index} = require("${one}");\n`).join("")}export = [${names.join(", ")}];\n`,
  };
};

/**
 * Writes the files that a compiler reads, below `dir`: `entries.mts` and `entries.cts` of each consumer, and a project for each way
 * of resolving modules. Returns the names of the projects: `alone` ones, in which all declarations are judged, and `beside`
 * ones, in which the faults of an optional peer's declarations are the peer's own.
 */
export function writeTypeProjects(dir, consumers) {
  const projects = { alone: [], beside: [] };
  for (const { name, entries } of consumers) {
    const { module, common } = importsOfAll(entries.map(({ specifier }) => specifier));
    writeFileSync(join(dir, name, "entries.mts"), module);
    writeFileSync(join(dir, name, "entries.cts"), common);
  }
  for (const [kind, isAlone] of [
    ["alone", true],
    ["beside", false],
  ]) {
    const chosen = consumers.filter(
      (consumer) => consumer.isAlone === isAlone && consumer.entries.length > 0,
    );
    const files = (list, file) => list.map(({ name }) => `${name}/${file}`);
    const ofBrowsers = chosen.filter(({ isBrowser }) => isBrowser);
    const lists = {
      nodenext: [...files(chosen, "entries.mts"), ...files(chosen, "entries.cts")],
      bundler: files(
        chosen.filter(({ isBrowser }) => !isBrowser),
        "entries.mts",
      ),
      browser: files(ofBrowsers, "entries.mts"),
    };
    for (const [resolution, list] of Object.entries(lists)) {
      if (list.length === 0) continue;
      const config = `tsconfig.${kind}.${resolution}.json`;
      writeFileSync(
        join(dir, config),
        `${JSON.stringify({ compilerOptions: resolutions[resolution], files: list }, null, 2)}\n`,
      );
      projects[kind].push(config);
    }
  }
  return projects;
}

/** Compiles a project of {@link writeTypeProjects} with the TypeScript in a folder, or with that of this repository. Returns the lines of its errors. */
export async function typeProblems(dir, config, typescript) {
  const { code, output } = await compile(config, { cwd: dir, typescript });
  const lines = output.split("\n").filter((line) => /error TS\d+/.test(line));
  if (code !== 0 && lines.length === 0) return [`${config}: ${output.trim()}`];
  return (config.includes(".alone.") ? lines : lines.filter(isOurs)).map((line) => `${config}: ${line}`);
}
