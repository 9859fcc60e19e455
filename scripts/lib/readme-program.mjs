import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pagePrograms } from "./page-programs.mjs";

const installs = /\b(?:npm (?:install|i|add)|pnpm add|npx) (.*)/;

/**
 * The program that the README in `dir` begins with, `{ name, code, line }`, if it has one, and the packages that its install
 * lines name, as `installed`.
 */
export function readmeProgram(dir) {
  const file = join(dir, "README.md");
  if (!existsSync(file)) return { installed: [] };
  const text = readFileSync(file, "utf8");
  const { files, commands } = pagePrograms(text);
  const [program] = files.filter(({ isProgram, name }) => isProgram && name.endsWith(".mjs"));
  const isStarted = commands.some(({ args }) => args[0] === program?.name);
  const installed = text.split("\n").flatMap((line) => installs.exec(line)?.[1].split(/\s+/) ?? []);
  return { program: isStarted ? program : undefined, installed };
}
