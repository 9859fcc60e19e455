import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.mjs";

/** Installs packages of npm, each `name@version`, below `dir`, unless that was done before. Returns its `node_modules`. */
export async function npmInstall(dir, packages, { env, flags = [] } = {}) {
  const modules = join(dir, "node_modules");
  if (existsSync(modules)) return modules;
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "package.json"), '{"private":true}\n');
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", ...flags, ...packages];
  const { code, output } = await run("npm", args, { cwd: dir, env });
  if (code !== 0) throw new Error(`${packages.join(" ")} cannot be installed: ${output.trim().slice(-2000)}`);
  return modules;
}

/** The version of an installed package. */
export const versionIn = (modules, name) =>
  JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")).version;
