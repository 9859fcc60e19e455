import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { agents } from "./lib/real-acp/agents.mjs";
import { cells, runCell } from "./lib/real-acp/run-cell.mjs";
import { seenText } from "./lib/real-acp/seen-text.mjs";
import { option } from "./lib/report.mjs";
import { run, stopChildrenOnSignals } from "./lib/run.mjs";
import { withTempDir } from "./lib/temp.mjs";

// npm run real-acp: installs ACP agents of other vendors (1.2 GB), runs each behind `harness guard acp` against a scripted model, and prints what
// was seen in each cell. Fails where a call that was blocked, refused or cancelled ran, or one that ran unasked is not shown as not judged.
//   --agents opencode,gemini-cli   --cells allow,block   --install DIR (kept)   --json FILE

const chosen = (all, name) => {
  const wanted = option(name, "").split(",").filter(Boolean);
  return wanted.length === 0 ? all : all.filter(({ id }) => wanted.includes(id));
};

async function install(dir, spec, env = {}) {
  const modules = join(dir, "node_modules");
  if (existsSync(modules)) return modules;
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "package.json"), '{"private":true}\n');
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", spec];
  const { code, output } = await run("npm", args, { cwd: dir, env });
  if (code !== 0) throw new Error(`${spec} cannot be installed: ${output.slice(-2000)}`);
  return modules;
}

stopChildrenOnSignals();
await withTempDir(join(realpathSync(tmpdir()), "real-acp-"), async (temporary) => {
  const place = option("install", join(temporary, "agents"));
  const node = join(await install(join(place, "node"), "node@22"), "node", "bin");
  const env = { PATH: [node, process.env.PATH].join(delimiter) };
  const wanted = chosen(cells, "cells");
  const table = [];
  const all = {};
  for (const agent of chosen(agents, "agents")) {
    const spec = `${agent.npm}@${agent.version ?? "latest"}`;
    const modules = await install(join(place, agent.id), spec, env);
    const program = join(modules, ".bin", agent.bin);
    const seen = {};
    for (const cell of wanted) {
      const found = await runCell(cell, agent, { program, node, base: temporary });
      seen[cell.id] = { ...seenText(cell, found, agent.id), found };
      process.stderr.write(`${agent.id}, ${cell.id}: ${seen[cell.id].text}\n`);
      if (!seen[cell.id].holds) process.exitCode = 1;
    }
    all[agent.id] = seen;
    const [first] = Object.values(seen);
    table.push([
      agent.id,
      first.mode,
      ...wanted.map(({ id }) => `${seen[id].holds ? "" : "✗ "}${seen[id].text}`),
    ]);
  }
  const head = ["agent", "mode at start", ...wanted.map(({ id }) => id)];
  const lines = [head, head.map(() => "---"), ...table].map((row) => `| ${row.join(" | ")} |`);
  process.stdout.write(`${lines.join("\n")}\n`);
  const file = option("json", "");
  if (file !== "") writeFileSync(file, JSON.stringify(all, null, 1));
});
