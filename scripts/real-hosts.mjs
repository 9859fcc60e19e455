import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { findHost } from "../packages/agent-hooks/dist/index.js";
import { proveHost, runnableHosts } from "../packages/guard/dist/doctor.js";
import { npmInstall } from "./lib/npm-install.mjs";
import { chosen, runCells, withAgents } from "./lib/real-agents/run.mjs";
import { cells } from "./lib/real-hosts/cells.mjs";
import { differences, formatsOf } from "./lib/real-hosts/drift.mjs";
import { hosts } from "./lib/real-hosts/hosts.mjs";
import { cellTable, doctorTable, writePages } from "./lib/real-hosts/page.mjs";
import { runCell } from "./lib/real-hosts/run-cell.mjs";
import { option, report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";

// npm run real-hosts: installs the newest coding agents of other vendors (1.5 GB), runs each under the guard against a scripted model, in the
// mode in which it asks by itself, and runs the doctor. Prints what was seen in each cell, and fails with the difference to
// scripts/lib/real-hosts/seen.json; --write writes that file and the tables of the pages.
//   --hosts codex,opencode   --cells allow,block   --versions codex=0.171.0   --install DIR (kept)   --lanes 2

const record = join(repositoryRoot, "scripts", "lib", "real-hosts", "seen.json");
const hook = join(repositoryRoot, "apps", "cli", "dist", "guard-hook.cjs");
const versions = Object.fromEntries(
  option("versions", "")
    .split(",")
    .map((word) => word.split("=")),
);
const wantedHosts = chosen(hosts, "hosts").map((host) => ({ ...host, version: versions[host.id] }));
const wantedCells = chosen(cells, "cells");
const isWhole = wantedCells.length === cells.length;
const say = (line) => process.stderr.write(`${line}\n`);

/** What the doctor sees of a host, by probe; undefined for one that it does not run. */
async function runDoctor({ id, name }, program) {
  const runnable = runnableHosts.find((one) => one.id === id);
  if (runnable === undefined) return undefined;
  const hookProgram = [process.execPath, hook];
  const { rows, isProved } = await proveHost({ host: findHost(id), runnable, program, hookProgram });
  say(`${name}: the doctor ${isProved ? "has proved it" : "could not prove it"}`);
  return Object.fromEntries(rows.map(({ probe, observed }) => [probe, observed ?? "not run"]));
}

/** Runs the cells of all hosts, and the doctor. */
async function look({ node, base, place, programs }) {
  // The doctor's programs are scripts that start the `node` of the PATH.
  process.env.PATH = [node, process.env.PATH].join(delimiter);
  // opencode fetches a package before it loads a plugin.
  const plugin = `@opencode-ai/plugin@${programs.opencode?.version}`;
  const seed = programs.opencode && dirname(await npmInstall(join(place, "opencode-seed"), [plugin]));
  const runs = await runCells(wantedHosts, wantedCells, (cell, host) =>
    runCell(cell, host, { program: programs[host.id].program, node, base, seed }),
  );
  const seen = {};
  for (const host of wantedHosts) {
    const { program, version } = programs[host.id];
    const cellsOf = Object.entries(runs[host.id]);
    seen[host.id] = {
      version,
      cells: Object.fromEntries(cellsOf.map(([cell, { holds, text }]) => [cell, { holds, text }])),
      doctor: await runDoctor(host, program),
      formats: formatsOf(host, Object.values(runs[host.id])),
    };
  }
  return seen;
}

/** Of the record, what this run can be compared with: not the versions, and only what was run. */
function comparable(all) {
  const ids = wantedHosts.map(({ id }) => id).filter((id) => all[id]);
  return Object.fromEntries(
    ids.map((id) => {
      const { cells: found, doctor, formats } = all[id];
      const own = Object.fromEntries(wantedCells.map((cell) => [cell.id, found[cell.id]]));
      return [id, { cells: own, doctor, ...(isWhole && { formats }) }];
    }),
  );
}

const seen = await withAgents(wantedHosts, look);
// As the record is: without what is undefined.
const now = JSON.parse(JSON.stringify(seen));
process.stdout.write(`${cellTable(now)}\n\n${doctorTable(now)}\n\n`);
const before = JSON.parse(readFileSync(record, "utf8"));
const found = differences(comparable(before), comparable(now));
if (process.argv.includes("--write")) {
  const merged = { ...before };
  for (const [id, one] of Object.entries(now)) {
    const { cells: known, formats = one.formats } = before[id] ?? {};
    merged[id] = { ...one, cells: { ...known, ...one.cells }, formats: isWhole ? one.formats : formats };
  }
  writeFileSync(record, `${JSON.stringify(merged, null, 2)}\n`);
  writePages(merged);
  for (const line of found) say(`changed: ${line}`);
}
report(
  "real-hosts",
  process.argv.includes("--write") ? [] : found,
  wantedHosts.map(({ id, name }) => `${name} ${now[id].version}`).join(", "),
);
