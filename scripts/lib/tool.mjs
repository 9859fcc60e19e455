import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.mjs";

/**
 * Installs a tool that is no dependency of the repository into a folder of its own below `dir`; `overrides` are those of its
 * package.json. Returns `{ folder, version }`.
 */
export async function installTool(dir, name, range, overrides = {}) {
  const home = join(dir, `${name.replaceAll("/", "-")}-${range}`);
  const folder = join(home, "node_modules", name);
  if (!existsSync(folder)) {
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "package.json"), JSON.stringify({ private: true, overrides }));
    const args = [
      "install",
      "--no-fund",
      "--no-audit",
      "--ignore-scripts",
      "--prefer-offline",
      `${name}@${range}`,
    ];
    const { code, output } = await run("npm", args, { cwd: home });
    if (code !== 0) throw new Error(`${name}@${range} cannot be installed: ${output.trim()}`);
  }
  return { folder, version: JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version };
}
