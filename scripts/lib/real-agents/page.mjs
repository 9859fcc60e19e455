import { join } from "node:path";
import { toTable, writeMarked } from "../marked-table.mjs";
import { repositoryRoot } from "../root.mjs";
import { hosts } from "./agents.mjs";
import { hookCells } from "./cells.mjs";

const shown = (cell) =>
  cell === undefined ? "not run" : cell.holds === false ? `**✗** ${cell.text}` : cell.text;

const titles = (seen, agents) =>
  agents.filter(({ id }) => seen[id]).map(({ id, name }) => ({ id, title: `${name} ${seen[id].version}` }));

/** What was seen of agents in each cell, as Markdown. */
export const cellTable = (seen, agents, cells) => {
  const columns = titles(seen, agents);
  return toTable(
    ["", ...columns.map(({ title }) => title)],
    cells.map(({ id, name }) => [name, ...columns.map((column) => shown(seen[column.id].cells[id]))]),
  );
};

const modeList = () => hosts.map(({ name, mode }) => `- ${name}: ${mode}.`).join("\n");

/** Writes what was seen into the pages. */
export function writePages(seen) {
  const page = join(repositoryRoot, "docs", "agent-hooks.md");
  writeMarked(page, "modes", modeList());
  writeMarked(page, "cells", cellTable(seen, hosts, hookCells));
}
