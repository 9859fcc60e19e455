import { join } from "node:path";
import { runProgram, startScriptedModel } from "../../../packages/guard/dist/doctor.js";
import { withTempDir } from "../temp.mjs";
import { policy } from "./cells.mjs";
import { pathOf } from "./install.mjs";
import { Machine } from "./machine.mjs";

const timeoutMs = 120_000;

/** A row of the timeline, in what the cells judge. */
const shortRow = ({ row, input, metadata }) => ({
  state: row.state,
  tool: row.tool,
  depth: row.depth ?? 0,
  workspace: metadata?.value?.workspace,
  command: input?.value?.command,
});

/**
 * Runs one cell of one host: a home, a project, a hub and a model of its own. Returns `{ holds, text, tools, said, end }`: what was seen, the
 * tools that the host has offered to its model, and what it has written to its hooks.
 */
export async function runCell(cell, host, { installed, node, base, seed, keep }) {
  const reason = cell.without?.(host);
  if (reason !== undefined) return { text: `not run: ${reason}`, tools: [], said: [] };
  return withTempDir(join(base, `${host.id}-${cell.id}-`), async (directory) => {
    const machine = new Machine(directory, pathOf(installed, node), policy);
    const tools = new Set();
    let calls = 0;
    const model = await startScriptedModel((outputs, request) => {
      for (const tool of request.tools) tools.add(tool);
      calls++;
      return cell.script(host, outputs, request, machine);
    });
    const stop = new AbortController();
    try {
      const parts = {
        home: machine.home,
        project: machine.project,
        modelUrl: model.url,
        prompt: "go on",
        seed,
      };
      const { args, env } = await host.prepare(parts);
      await machine.guard(host.id);
      await machine.startHub();
      const human = cell.human && machine.answerAll(cell.human, stop.signal);
      const end = await runProgram({
        program: installed.program,
        args,
        env: { ...env, PATH: pathOf(installed, node), TMPDIR: machine.env.TMPDIR },
        cwd: machine.project,
        timeoutMs,
      });
      stop.abort();
      await human;
      if (machine.isHubDown) await machine.startHub();
      const rows = await machine.actions();
      const { records } = await machine.client.call("inbox.list", {});
      const seen = {
        ran: machine.ran(),
        rows: rows.map(shortRow),
        outputs: model.outputs,
        records,
        project: machine.project,
      };
      const { holds, text } = cell.judge(seen);
      const why =
        calls === 0 ? "it did not ask the model" : end.isTimedOut ? "it did not end in time" : undefined;
      const about = { tools: [...tools], said: machine.said() };
      if (keep) Object.assign(about, { seen, raw: rows, end });
      return why === undefined
        ? { holds, text, ...about }
        : { holds: false, text: `${why}; ${text}`, ...about };
    } finally {
      stop.abort();
      await machine.killHub();
      await model.close();
    }
  });
}
