import { execFileSync } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runProgram, startScriptedModel } from "../../../packages/guard/dist/doctor.js";
import { harnessBin, linesOf, Machine } from "../real-agents/machine.mjs";
import { repositoryRoot } from "../root.mjs";
import { run } from "../run.mjs";
import { withTempDir } from "../temp.mjs";
import { policy } from "./cells.mjs";

const timeoutMs = 120_000;
const recorder = join(repositoryRoot, "scripts", "lib", "real-hosts", "record-hook.mjs");

/** A row of the timeline, in what the cells judge. */
const shortRow = ({ row, input, metadata }) => ({
  state: row.state,
  tool: row.tool,
  depth: row.depth ?? 0,
  workspace: metadata?.value?.workspace,
  command: input?.value?.command,
});

/** Puts a host under the guard, with a program that records what the host says in `hooks` and then starts the hook's own. */
async function guard({ project: cwd, env }, id, hooks) {
  const command = `${process.execPath} ${recorder} ${hooks}`;
  const args = [harnessBin, "guard", "init", "--agent", id, "--yes", "--command", command];
  const { code, output } = await run(process.execPath, args, { cwd, env });
  if (code !== 0) throw new Error(`harness guard init failed: ${output.trim()}`);
}

/** Answers each question that waits, until `signal` aborts. */
async function answerAll(machine, decision, signal) {
  while (!signal.aborted) {
    for (const record of await machine.pending()) {
      const note = decision === "reject" ? "the human says no" : undefined;
      await machine.answer(record, { decision, note });
    }
    await sleep(100);
  }
}

/** The timeline's rows of actions, from the oldest. */
async function actionsOf({ client }) {
  const { rows } = await client.call("timeline.page", { filter: {} });
  const found = rows.filter(({ type }) => type === "pre_action").reverse();
  const whole = await Promise.all(found.map(({ id }) => client.call("timeline.get", { id })));
  return whole.map(shortRow);
}

/**
 * Runs one cell of one host: a home, a project, a hub and a model of its own. Returns `{ holds, text, tools, said }`: what was seen, the
 * tools that the host has offered to its model, and what it has written to its hooks.
 */
export async function runCell(cell, host, { program, node, base, seed }) {
  const reason = cell.without?.(host);
  if (reason !== undefined) return { text: `not run: ${reason}`, tools: [], said: [] };
  return withTempDir(join(base, `${host.id}-${cell.id}-`), async (directory) => {
    // The host's own directory, so that the guard finds it, and that of its node.
    const PATH = [dirname(program), node, process.env.PATH].join(delimiter);
    const machine = new Machine(directory, { policy, env: { ...process.env, PATH } });
    const { home, project } = machine;
    // Copilot CLI runs its hooks at the root of the repository, which another program may have begun further up.
    execFileSync("git", ["init", "--quiet"], { cwd: project });
    const hooks = join(directory, "hooks.jsonl");
    const tools = new Set();
    let calls = 0;
    const model = await startScriptedModel((outputs, request) => {
      for (const tool of request.tools) tools.add(tool);
      calls++;
      return cell.script(host, outputs, request, machine);
    });
    const stop = new AbortController();
    try {
      const { args, env } = await host.prepare({ home, project, modelUrl: model.url, prompt: "go on", seed });
      await guard(machine, host.id, hooks);
      await machine.startHub();
      const human = cell.human && answerAll(machine, cell.human, stop.signal);
      const own = { ...env, PATH, TMPDIR: machine.env.TMPDIR };
      const end = await runProgram({ program, args, env: own, cwd: project, timeoutMs });
      stop.abort();
      await human;
      if (machine.isHubDown) await machine.startHub();
      const { records } = await machine.client.call("inbox.list", {});
      const rows = await actionsOf(machine);
      const { holds, text } = cell.judge({
        ran: machine.ran(),
        rows,
        outputs: model.outputs,
        records,
        project,
      });
      const said = linesOf(hooks).map((line) => JSON.parse(line));
      const found = { tools: [...tools], said };
      if (calls === 0) return { holds: false, text: `it did not ask the model; ${text}`, ...found };
      if (end.isTimedOut) return { holds: false, text: `it did not end in time; ${text}`, ...found };
      return { holds, text, ...found };
    } finally {
      stop.abort();
      await machine.killHub();
      await model.close();
    }
  });
}
