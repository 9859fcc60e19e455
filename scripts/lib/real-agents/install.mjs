import { mkdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { npmInstall, versionIn } from "../npm-install.mjs";
import { option } from "../report.mjs";
import { mapLimit, stopChildrenOnSignals } from "../run.mjs";
import { withTempDir } from "../temp.mjs";

/** The words of `--NAME WORD,…`. */
export const listOf = (name) => option(name, "").split(",").filter(Boolean);

/** Of a table whose rows have ids, those that `--NAME ID,…` names; all without it. */
export const chosen = (all, name) => {
  const wanted = listOf(name);
  return wanted.length === 0 ? all : all.filter(({ id }) => wanted.includes(id));
};

/**
 * Installs coding agents of npm, `{ id, npm, bin, version? }`, and a Node.js that all of them run on, below `--install DIR` or in a
 * directory that is removed. Then does `work({ node, base, place, programs })`: the directory of that Node.js, an empty directory, where
 * things are installed, and by id `{ program, version }`.
 */
export const withAgents = (agents, work) => {
  stopChildrenOnSignals();
  return withTempDir(join(realpathSync(tmpdir()), "real-agents-"), async (temporary) => {
    const place = option("install", join(temporary, "agents"));
    const node = join(await npmInstall(join(place, "node"), ["node@22"]), ".bin");
    // npm does not choose a version that its own node is too old for.
    const env = { PATH: [node, process.env.PATH].join(delimiter) };
    // Two agents may be one package: it is installed once.
    const installed = {};
    const found = await mapLimit(agents, 2, async ({ id, npm, bin, version = "latest" }) => {
      const name = `${npm}@${version}`;
      installed[name] ??= npmInstall(join(place, name), [name], { env });
      const modules = await installed[name];
      return [id, { program: join(modules, ".bin", bin), version: versionIn(modules, npm) }];
    });
    const base = join(temporary, "runs");
    mkdirSync(base);
    return work({ node, base, place, programs: Object.fromEntries(found) });
  });
};

/**
 * Runs `runCell(cell, agent)` of each agent in each cell, `--lanes` at a time, and says what was seen, `{ holds, text }`. Returns what was
 * seen by the agent's id and the cell's.
 */
export const runCells = async (agents, cells, runCell) => {
  const pairs = agents.flatMap((agent) => cells.map((cell) => ({ agent, cell })));
  const seen = Object.fromEntries(agents.map(({ id }) => [id, {}]));
  await mapLimit(pairs, Number(option("lanes", "2")), async ({ agent, cell }) => {
    const found = await runCell(cell, agent).catch(({ message }) => {
      return { holds: false, text: `the run failed: ${message.split("\n")[0]}`, tools: [] };
    });
    process.stderr.write(`${agent.id}, ${cell.id}: ${found.holds === false ? "✗ " : ""}${found.text}\n`);
    seen[agent.id][cell.id] = found;
  });
  return seen;
};
