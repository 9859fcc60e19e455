import { join } from "node:path";
import { repositoryRoot } from "./root.mjs";
import { run } from "./run.mjs";

/** The arguments with which Node runs the compiler in the folder `typescript` on the project of a configuration. */
export const compilerArguments = (config, typescript = join(repositoryRoot, "node_modules/typescript-7")) => [
  join(typescript, "bin/tsc"),
  "--pretty",
  "false",
  "-p",
  config,
];

/** Compiles a project, with the compiler that checks this repository where none is given. Resolves as `run` does. */
export const compile = (config, { cwd = repositoryRoot, typescript } = {}) =>
  run(process.execPath, compilerArguments(config, typescript), { cwd });
