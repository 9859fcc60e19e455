import { basename, dirname, resolve } from "node:path";
import ts from "typescript";

// node type-check-own.mjs TSCONFIG...: checks, with the declarations that they use, each project's own files and
// those of @harnesskit packages. The declarations of foreign packages are read and not judged, which is what makes
// a check with `skipLibCheck: false` say something about us, and quickly.
const isOurs = ({ fileName }) =>
  !fileName.includes("/node_modules/") || fileName.includes("/node_modules/@harnesskit/");

function problemsOf(configFile) {
  const { config, error } = ts.readConfigFile(configFile, ts.sys.readFile);
  if (error !== undefined) return [error];
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, dirname(configFile));
  const program = ts.createProgram(parsed.fileNames, parsed.options);
  const files = program
    .getSourceFiles()
    .filter((file) => isOurs(file) && !program.isSourceFileDefaultLibrary(file));
  return [
    ...parsed.errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...files.flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]),
  ];
}

const host = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => process.cwd(),
  getNewLine: () => "\n",
};
for (const argument of process.argv.slice(2)) {
  const problems = problemsOf(resolve(argument));
  for (const line of ts.formatDiagnostics(problems, host).split("\n").filter(Boolean)) {
    process.stdout.write(`${basename(argument, ".json").replace("tsconfig.", "")}: ${line}\n`);
  }
  if (problems.length > 0) process.exitCode = 1;
}
