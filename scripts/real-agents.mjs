import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { npmInstall } from "./lib/npm-install.mjs";
import { acpAgents, hosts } from "./lib/real-agents/agents.mjs";
import { acpCells, hookCells } from "./lib/real-agents/cells.mjs";
import { differences } from "./lib/real-agents/differences.mjs";
import { chosen, listOf, runCells, withAgents } from "./lib/real-agents/install.mjs";
import { cellTable, writePages } from "./lib/real-agents/page.mjs";
import { runAcpCell, runHookCell } from "./lib/real-agents/run-cell.mjs";
import { report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";

// npm run real-agents: installs the newest coding agents of other vendors (2 GB), and runs each against a scripted model, under the guard's hooks
// in the mode in which it asks by itself, and behind `harness guard acp`. Prints what was seen in each cell. Fails with the difference to scripts/lib/real-agents/seen.json, which --write writes with the tables of the pages, and through ACP where a cell does not hold:
// a call that was blocked, refused or cancelled ran, or one that ran unasked is not shown as not judged.
//   --agents codex,codex-acp   --cells allow,block   --versions codex=0.171.0   --install DIR (kept)   --lanes 2

const record = join(repositoryRoot, "scripts/lib/real-agents/seen.json");
const versions = Object.fromEntries(listOf("versions").map((word) => word.split("=")));
const withVersion = (agent) => ({ ...agent, version: versions[agent.id] ?? agent.version });
const [wantedHosts, wantedAcp] = [hosts, acpAgents].map((all) => chosen(all, "agents").map(withVersion));
const [wantedHookCells, wantedAcpCells] = [hookCells, acpCells].map((all) => chosen(all, "cells"));
const isWhole = wantedHookCells.length === hookCells.length;

/** Runs the cells of all agents. */
async function look({ node, base, place, programs }) {
  // opencode fetches a package before it loads a plugin.
  const plugin = `@opencode-ai/plugin@${programs.opencode?.version}`;
  const seed = programs.opencode && dirname(await npmInstall(join(place, "opencode-seed"), [plugin]));
  const runWith = (runCell) => (cell, agent) =>
    runCell(cell, agent, { program: programs[agent.id].program, node, base, seed });
  const byHooks = await runCells(wantedHosts, wantedHookCells, runWith(runHookCell));
  const byAcp = await runCells(wantedAcp, wantedAcpCells, runWith(runAcpCell));
  const seen = {};
  for (const agent of [...wantedHosts, ...wantedAcp]) {
    const { version } = programs[agent.id];
    const cells = Object.entries(byHooks[agent.id] ?? byAcp[agent.id]);
    seen[agent.id] = {
      version,
      cells: Object.fromEntries(cells.map(([cell, { holds, text }]) => [cell, { holds, text }])),
      tools: [...new Set(cells.flatMap(([, { tools = [] }]) => tools))].sort(),
    };
  }
  return seen;
}

/** Of the record, what this run can be compared with: not the versions, and only what was run. */
function comparable(all) {
  const known = wantedHosts.filter(({ id }) => all[id]);
  return Object.fromEntries(
    known.map(({ id }) => {
      const { cells, tools } = all[id];
      const own = Object.fromEntries(wantedHookCells.map((cell) => [cell.id, cells[cell.id]]));
      return [id, { cells: own, ...(isWhole && { tools }) }];
    }),
  );
}

const seen = await withAgents([...wantedHosts, ...wantedAcp], look);
// As the record is: without what is undefined.
const now = JSON.parse(JSON.stringify(seen));
const tables = [cellTable(now, wantedHosts, wantedHookCells), cellTable(now, wantedAcp, wantedAcpCells)];
process.stdout.write(`${tables.join("\n\n")}\n\n`);
const before = JSON.parse(readFileSync(record, "utf8"));
const found = differences(comparable(before), comparable(now));
const isWritten = process.argv.includes("--write") && isWhole;
if (isWritten) {
  const all = { ...before, ...Object.fromEntries(wantedHosts.map(({ id }) => [id, now[id]])) };
  writeFileSync(record, `${JSON.stringify(all, null, 2)}\n`);
  writePages(all);
  for (const line of found) process.stderr.write(`changed: ${line}\n`);
}
const broken = wantedAcp.flatMap(({ id }) =>
  Object.entries(now[id].cells)
    .filter(([, { holds }]) => !holds)
    .map(([cell, { text }]) => `${id}, ${cell}: ${text}`),
);
report(
  "real-agents",
  [...(isWritten ? [] : found), ...broken],
  [...wantedHosts, ...wantedAcp].map(({ id, name }) => `${name} ${now[id].version}`).join(", "),
);
