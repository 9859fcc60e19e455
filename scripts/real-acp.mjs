import { writeFileSync } from "node:fs";
import { toTable } from "./lib/marked-table.mjs";
import { agents } from "./lib/real-acp/agents.mjs";
import { cells } from "./lib/real-acp/cells.mjs";
import { runCell } from "./lib/real-acp/run-cell.mjs";
import { chosen, runCells, withAgents } from "./lib/real-agents/run.mjs";
import { option } from "./lib/report.mjs";

// npm run real-acp: installs ACP agents of other vendors (1.2 GB), runs each behind `harness guard acp` against a scripted model, and prints what
// was seen in each cell. Fails where a call that was blocked, refused or cancelled ran, or one that ran unasked is not shown as not judged.
//   --agents opencode,gemini-cli   --cells allow,block   --install DIR (kept)   --lanes 1   --json FILE

const wanted = chosen(agents, "agents");
const wantedCells = chosen(cells, "cells");
const seen = await withAgents(wanted, ({ node, base, programs }) =>
  runCells(wanted, wantedCells, (cell, agent) =>
    runCell(cell, agent, { program: programs[agent.id].program, node, base }),
  ),
);
const rows = Object.entries(seen).map(([id, found]) => {
  const shown = wantedCells.map((cell) => found[cell.id]);
  if (shown.some(({ holds }) => !holds)) process.exitCode = 1;
  return [id, shown[0].mode, ...shown.map(({ holds, text }) => `${holds ? "" : "✗ "}${text}`)];
});
process.stdout.write(`${toTable(["agent", "mode at start", ...wantedCells.map(({ id }) => id)], rows)}\n`);
const file = option("json", "");
if (file !== "") writeFileSync(file, JSON.stringify(seen, null, 1));
