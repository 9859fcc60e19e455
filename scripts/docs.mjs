import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { Application, LogLevel } from "typedoc";
import { report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { withTempDir } from "./lib/temp.mjs";
import { workspacePackages } from "./lib/workspace.mjs";

const findings = [];

/** Classes whose public part alone is documented, as a type made of them. */
const internalTypes = {
  wire: ["Types"],
  "core-runtime": ["createStats"],
};

/** Collects the warnings and errors of one step; an application has a logger of its own. */
function listen(app, place) {
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

async function documentPackage(pkg, dir) {
  const entries = sourceEntries(pkg);
  const app = await Application.bootstrap({
    options: join(repositoryRoot, "typedoc.json"),
    name: pkg.name,
    basePath: repositoryRoot,
    displayBasePath: pkg.dir,
    tsconfig: join(pkg.dir, "tsconfig.json"),
    entryPoints: entries.map(({ file }) => file),
    intentionallyNotExported: internalTypes[pkg.short] ?? [],
    readme: existsSync(join(pkg.dir, "README.md")) ? join(pkg.dir, "README.md") : "none",
    logLevel: "Warn",
    // The `types` check has judged the same files, and their tests.
    skipErrorChecking: true,
  });
  listen(app, pkg.path);
  const project = await app.convert();
  if (project === undefined) return undefined;
  for (const module of project.children ?? []) {
    const entry = entries.find(({ file }) => module.sources?.[0]?.fullFileName === file);
    if (entry !== undefined) module.name = entry.subpath === "." ? "main" : entry.subpath.slice(2);
  }
  app.validate(project);
  const file = join(dir, `${pkg.short}.json`);
  writeFileSync(file, JSON.stringify(app.serializer.projectToObject(project, repositoryRoot)));
  return file;
}

async function merge(files) {
  const app = await Application.bootstrap({
    options: join(repositoryRoot, "typedoc.json"),
    entryPointStrategy: "merge",
    entryPoints: files,
    basePath: repositoryRoot,
    readme: existsSync(join(repositoryRoot, "README.md")) ? join(repositoryRoot, "README.md") : "none",
    logLevel: "Warn",
  });
  listen(app, "docs/api");
  const project = await app.convert();
  if (project === undefined) return;
  app.validate(project);
  await app.generateDocs(project, join(repositoryRoot, "docs/api"));
}

const libraries = workspacePackages(repositoryRoot).filter(
  ({ kind, isPublic }) => kind === "library" && isPublic,
);
await withTempDir(join(repositoryRoot, ".cache/docs-"), async (dir) => {
  const files = [];
  for (const pkg of libraries) {
    const file = await documentPackage(pkg, dir);
    if (file !== undefined) files.push(file);
  }
  if (files.length > 0) await merge(files);
});
report("docs", findings, `${libraries.length} packages in docs/api`);
