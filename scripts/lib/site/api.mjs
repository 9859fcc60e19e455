import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { Application, Comment, LogLevel, ReflectionKind } from "typedoc";
import ts from "typescript";
import { repositoryRoot } from "../root.mjs";
import { withTempDir } from "../temp.mjs";
import { workspacePackages } from "../workspace.mjs";
import { toSiteMarkdown } from "./pages.mjs";

const options = join(repositoryRoot, "typedoc.json");

/** Classes whose public part alone is documented, as a type made of them. */
const internalTypes = {
  wire: ["Types", "OptionalName", "ValueOf"],
  "core-runtime": ["createStats"],
};

/** Collects the warnings and errors of one step; an application has a logger of its own. */
function listen(app, place, findings) {
  const log = app.logger.log.bind(app.logger);
  app.logger.log = (message, level) => {
    if (level >= LogLevel.Warn) findings.push(`${place}: ${stripVTControlCharacters(message)}`);
    else log(message, level);
  };
}

/** The entries of a package as `{ subpath, file }`, read from the source condition of its exports. */
const sourceEntries = ({ manifest, dir }) =>
  Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) => {
    const source = target["@harnesskit/source"];
    return source === undefined ? [] : [{ subpath, file: join(dir, source) }];
  });

/** What a package is for, and where to read on: its README, which begins its role, and the guides that the README names. */
function introduction({ dir, path, manifest, short }, findings) {
  const readme = readFileSync(join(dir, "README.md"), "utf8");
  const guides = new Set(Array.from(readme.matchAll(/\]\(([./]+\/docs\/[a-z-]+\.md)/g), ([, file]) => file));
  const links = [...guides].map((file) => {
    const title = /^# (.+)$/m.exec(readFileSync(join(dir, file), "utf8"))?.[1];
    return `[${title}](${file})`;
  });
  const text = `${manifest.description}. Start at [the README of ${short}](README.md).${
    links.length > 0 ? ` Guides: ${links.join(", ")}.` : ""
  }`;
  return new Comment([{ kind: "text", text: toSiteMarkdown(`${path}/README.md`, text, findings) }]);
}

/** The sources of all packages as one program: each reads what it imports from the others, and most read the same. */
function readSources() {
  const file = join(repositoryRoot, "tsconfig.types.json");
  const { config } = ts.readConfigFile(file, ts.sys.readFile);
  const { fileNames, options: compilerOptions } = ts.parseJsonConfigFileContent(
    config,
    ts.sys,
    repositoryRoot,
  );
  return ts.createProgram(fileNames, compilerOptions);
}

async function documentPackage(pkg, dir, findings, program) {
  const entries = sourceEntries(pkg);
  const app = await Application.bootstrap({
    options,
    name: pkg.name,
    basePath: repositoryRoot,
    displayBasePath: pkg.dir,
    intentionallyNotExported: internalTypes[pkg.short] ?? [],
    readme: "none",
    logLevel: "Warn",
  });
  listen(app, pkg.path, findings);
  const project = app.converter.convert(
    entries.map(({ subpath, file }) => ({
      displayName: subpath,
      program,
      sourceFile: program.getSourceFile(file),
    })),
  );
  project.comment ??= introduction(pkg, findings);
  for (const module of project.children ?? []) {
    // A package with one entry is that entry.
    if (!module.kindOf(ReflectionKind.Module)) continue;
    // Only now, so that they are sorted by their paths and the main entry comes first.
    module.name = module.name === "." ? "main" : module.name.slice(2);
    if (module.name === "main") module.comment ??= introduction(pkg, findings);
  }
  app.validate(project);
  const file = join(dir, `${pkg.short}.json`);
  writeFileSync(file, JSON.stringify(app.serializer.projectToObject(project, repositoryRoot)));
  return file;
}

/** Markdown for the site, one page for each entry. */
async function writeMarkdown(files, target, findings) {
  const app = await Application.bootstrapWithPlugins({
    options,
    plugin: ["typedoc-plugin-markdown"],
    entryPointStrategy: "merge",
    entryPoints: files,
    basePath: repositoryRoot,
    readme: "none",
    logLevel: "Warn",
    outputFileStrategy: "modules",
    entryFileName: "index",
    hidePageHeader: true,
    hideBreadcrumbs: true,
    useCodeBlocks: true,
    parametersFormat: "table",
    interfacePropertiesFormat: "table",
    typeAliasPropertiesFormat: "table",
    propertyMembersFormat: "table",
    enumMembersFormat: "table",
    disableSources: true,
    sanitizeComments: true,
    useHTMLAnchors: true,
  });
  listen(app, "api", findings);
  const project = await app.convert();
  if (project === undefined) return;
  app.validate(project);
  await app.outputs.writeOutput({ name: "markdown", path: target }, project);
}

/**
 * Reads the reference from the sources of all published libraries, and writes it as Markdown to `target`, if one is
 * given. Returns `{ findings, packages }`: what typedoc warns of, and how many packages it read.
 */
export async function buildApi(target) {
  const findings = [];
  const libraries = workspacePackages(repositoryRoot).filter(
    ({ kind, isPublic }) => kind === "library" && isPublic,
  );
  await withTempDir(join(repositoryRoot, ".cache/docs-"), async (dir) => {
    const program = readSources();
    const files = [];
    for (const pkg of libraries) files.push(await documentPackage(pkg, dir, findings, program));
    if (target !== undefined && files.length > 0) await writeMarkdown(files, target, findings);
  });
  return { findings, packages: libraries.length };
}
