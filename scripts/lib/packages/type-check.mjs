import { basename, dirname, resolve } from "node:path";
import ts from "typescript";

// node type-check.mjs [--all] TSCONFIG...: checks each project's own files and the declarations of @harnesskit
// packages; with --all those of foreign packages too, as a consumer with `skipLibCheck: false` does. Without it the
// faults of an optional peer's declarations are the peer's own.
const judgesAll = process.argv.includes("--all");
const isOurs = ({ fileName }) =>
  judgesAll || !fileName.includes("/node_modules/") || fileName.includes("/node_modules/@harnesskit/");

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
for (const argument of process.argv.slice(2).filter((argument) => argument !== "--all")) {
  const problems = problemsOf(resolve(argument));
  for (const line of ts.formatDiagnostics(problems, host).split("\n").filter(Boolean)) {
    process.stdout.write(`${basename(argument, ".json").replace("tsconfig.", "")}: ${line}\n`);
  }
  if (problems.length > 0) process.exitCode = 1;
}
