import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { findHost } from "../packages/agent-hooks/dist/index.js";
import { proveHost, runnableHosts } from "../packages/guard/dist/doctor.js";
import { npmInstall } from "./lib/npm-install.mjs";
import { acpAgents, hosts } from "./lib/real-agents/agents.mjs";
import { acpCells, hookCells } from "./lib/real-agents/cells.mjs";
import { differences } from "./lib/real-agents/differences.mjs";
import { chosen, listOf, runCells, withAgents } from "./lib/real-agents/install.mjs";
import { cellTable, doctorTable, writePages } from "./lib/real-agents/page.mjs";
import { hookProgram, runAcpCell, runHookCell } from "./lib/real-agents/run-cell.mjs";
import { report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";

// npm run real-agents: installs the newest coding agents of other vendors (2 GB), runs each against a scripted model, under the guard's hooks in
// the mode in which it asks by itself, and behind `harness guard acp`, and runs the doctor. Prints what was seen in each cell. Fails with the
// difference to scripts/lib/real-agents/seen.json, which --write writes with the tables of the pages, and through ACP where a cell does not hold:
// a call that was blocked, refused or cancelled ran, or one that ran unasked is not shown as not judged.
//   --agents codex,codex-acp   --cells allow,block   --versions codex=0.171.0   --install DIR (kept)   --lanes 2

const record = join(repositoryRoot, "scripts/lib/real-agents/seen.json");
const versions = Object.fromEntries(listOf("versions").map((word) => word.split("=")));
const withVersion = (agent) => ({ ...agent, version: versions[agent.id] ?? agent.version });
const [wantedHosts, wantedAcp] = [hosts, acpAgents].map((all) => chosen(all, "agents").map(withVersion));
const [wantedHookCells, wantedAcpCells] = [hookCells, acpCells].map((all) => chosen(all, "cells"));
const isWhole = wantedHookCells.length === hookCells.length;

/** What the doctor sees of an agent, by probe; undefined for one that it does not run. */
async function runDoctor({ id, name }, program) {
  const runnable = runnableHosts.find((one) => one.id === id);
  if (runnable === undefined) return undefined;
  const hook = [process.execPath, hookProgram];
  const { rows, isProved } = await proveHost({ host: findHost(id), runnable, program, hookProgram: hook });
  process.stderr.write(`${name}: the doctor ${isProved ? "has proved it" : "could not prove it"}\n`);
  return Object.fromEntries(rows.map(({ probe, observed }) => [probe, observed ?? "not run"]));
}

/** Runs the cells of all agents, and the doctor. */
async function look({ node, base, place, programs }) {
  // The doctor's programs are scripts that start the `node` of the PATH.
  process.env.PATH = [node, process.env.PATH].join(delimiter);
  // opencode fetches a package before it loads a plugin.
  const plugin = `@opencode-ai/plugin@${programs.opencode?.version}`;
  const seed = programs.opencode && dirname(await npmInstall(join(place, "opencode-seed"), [plugin]));
  const runWith = (runCell) => (cell, agent) =>
    runCell(cell, agent, { program: programs[agent.id].program, node, base, seed });
  const byHooks = await runCells(wantedHosts, wantedHookCells, runWith(runHookCell));
  const byAcp = await runCells(wantedAcp, wantedAcpCells, runWith(runAcpCell));
  const seen = {};
  for (const agent of [...wantedHosts, ...wantedAcp]) {
    const { program, version } = programs[agent.id];
    const cells = Object.entries(byHooks[agent.id] ?? byAcp[agent.id]);
    seen[agent.id] = {
      version,
      cells: Object.fromEntries(cells.map(([cell, { holds, text }]) => [cell, { holds, text }])),
      doctor: byHooks[agent.id] && (await runDoctor(agent, program)),
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
      const { cells, doctor, tools } = all[id];
      const own = Object.fromEntries(wantedHookCells.map((cell) => [cell.id, cells[cell.id]]));
      return [id, { cells: own, doctor, ...(isWhole && { tools }) }];
    }),
  );
}

/** The record, with what this run has seen of hooks. */
function merged(before, now) {
  const all = { ...before };
  for (const { id } of wantedHosts) {
    const { cells, tools = now[id].tools } = before[id] ?? {};
    all[id] = { ...now[id], cells: { ...cells, ...now[id].cells }, ...(!isWhole && { tools }) };
  }
  return all;
}

const seen = await withAgents([...wantedHosts, ...wantedAcp], look);
// As the record is: without what is undefined.
const now = JSON.parse(JSON.stringify(seen));
const tables = [
  cellTable(now, wantedHosts, wantedHookCells),
  doctorTable(now),
  cellTable(now, wantedAcp, wantedAcpCells),
];
process.stdout.write(`${tables.join("\n\n")}\n\n`);
const before = JSON.parse(readFileSync(record, "utf8"));
const found = differences(comparable(before), comparable(now));
const isWritten = process.argv.includes("--write");
if (isWritten) {
  const all = merged(before, now);
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
