import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { mapLimit, run } from "../run.mjs";

/** Installs `packages` of npm below `dir` with their install scripts, some of which put the program of this system in place. */
async function install(dir, packages, env) {
  if (!existsSync(join(dir, "node_modules"))) {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "package.json"), '{"private":true}\n');
    const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages];
    const { code, output } = await run("npm", args, { cwd: dir, env });
    if (code !== 0)
      throw new Error(`${packages.join(" ")} cannot be installed: ${output.trim().slice(-2000)}`);
  }
  return join(dir, "node_modules");
}

/**
 * Installs the hosts below `dir`, and a Node.js that all of them run on. `versions` maps a host's id to a version; the newest by default.
 * Returns `{ path, programs }`: the directory of that node, and by id `{ program, version }`.
 */
export async function installHosts(dir, hosts, versions) {
  const node = join(await install(join(dir, "node"), ["node@22"], {}), ".bin");
  // npm does not choose a version that its own node is too old for.
  const env = { PATH: [node, process.env.PATH].join(delimiter) };
  const found = await mapLimit(hosts, 2, async ({ id, npm, bin }) => {
    const modules = await install(join(dir, id), [`${npm}@${versions[id] ?? "latest"}`], env);
    const { version } = JSON.parse(readFileSync(join(modules, npm, "package.json"), "utf8"));
    return [id, { program: join(modules, ".bin", bin), version }];
  });
  return { path: node, programs: Object.fromEntries(found) };
}

/** A directory with the package that opencode fetches before it loads a plugin; undefined where opencode is not run. */
export async function installSeed(dir, version) {
  if (version === undefined) return undefined;
  return dirname(await install(join(dir, "opencode-seed"), [`@opencode-ai/plugin@${version}`], {}));
}

/** The first directories of a host's PATH: its own, so that the guard finds it, and that of its node. */
export const pathOf = ({ program }, node) => [dirname(program), node, process.env.PATH].join(delimiter);
