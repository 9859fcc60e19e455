import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { findHost } from "../packages/agent-hooks/dist/index.js";
import { proveHost, runnableHosts } from "../packages/guard/dist/doctor.js";
import { cells } from "./lib/real-hosts/cells.mjs";
import { differences, formatsOf } from "./lib/real-hosts/drift.mjs";
import { hosts } from "./lib/real-hosts/hosts.mjs";
import { installHosts, installSeed } from "./lib/real-hosts/install.mjs";
import { cellTable, doctorTable, writePages } from "./lib/real-hosts/page.mjs";
import { runCell } from "./lib/real-hosts/run-cell.mjs";
import { option, report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { mapLimit, stopChildrenOnSignals } from "./lib/run.mjs";
import { withTempDir } from "./lib/temp.mjs";

// npm run real-hosts: installs the newest coding agents of other vendors (1.5 GB), runs each under the guard against a scripted model, in the
// mode in which it asks by itself, and runs the doctor. Prints what was seen in each cell, and fails with the difference to
// scripts/lib/real-hosts/seen.json; --write writes that file and the tables of the pages.
//   --hosts codex,opencode   --cells allow,block   --versions codex=0.171.0   --install DIR (kept)   --lanes 2

const record = join(repositoryRoot, "scripts", "lib", "real-hosts", "seen.json");
const hook = join(repositoryRoot, "apps", "cli", "dist", "guard-hook.cjs");
const chosen = (all, name) => {
  const wanted = option(name, "").split(",").filter(Boolean);
  return wanted.length === 0 ? all : all.filter(({ id }) => wanted.includes(id));
};
const wantedHosts = chosen(hosts, "hosts");
const wantedCells = chosen(cells, "cells");
const isWhole = wantedCells.length === cells.length;
const versions = Object.fromEntries(
  option("versions", "")
    .split(",")
    .filter(Boolean)
    .map((word) => word.split("=")),
);
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
async function look(dir) {
  const modules = option("install", join(dir, "hosts"));
  const { path, programs } = await installHosts(modules, wantedHosts, versions);
  // The doctor's programs are scripts that start the `node` of the PATH.
  process.env.PATH = [path, process.env.PATH].join(delimiter);
  const seed = await installSeed(modules, programs.opencode?.version);
  const base = join(dir, "runs");
  mkdirSync(base);
  const pairs = wantedHosts.flatMap((host) => wantedCells.map((cell) => ({ host, cell })));
  const runs = await mapLimit(pairs, Number(option("lanes", "2")), async ({ host, cell }) => {
    const place = { installed: programs[host.id], node: path, base, seed };
    const run = await runCell(cell, host, place).catch((error) => ({
      holds: false,
      text: `the run failed: ${error.message.split("\n")[0]}`,
      tools: [],
      said: [],
    }));
    say(`${host.name}, ${cell.name}: ${run.holds === false ? "✗ " : ""}${run.text}`);
    return { ...run, host: host.id, cell: cell.id };
  });
  const seen = {};
  for (const host of wantedHosts) {
    const own = runs.filter((run) => run.host === host.id);
    const { program, version } = programs[host.id];
    seen[host.id] = {
      version,
      cells: Object.fromEntries(own.map(({ cell, holds, text }) => [cell, { holds, text }])),
      doctor: await runDoctor(host, program),
      formats: formatsOf(host, own),
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

stopChildrenOnSignals();
const seen = await withTempDir(join(realpathSync(tmpdir()), "harnesskit-hosts-"), look);
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
