import { execFileSync } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { runProgram, startScriptedModel } from "../../../packages/guard/dist/doctor.js";
import { repositoryRoot } from "../root.mjs";
import { run } from "../run.mjs";
import { withTempDir } from "../temp.mjs";
import { drive, openEditor } from "./acp-editor.mjs";
import { policy } from "./cells.mjs";
import { harnessBin, Machine } from "./machine.mjs";

const timeoutMs = 120_000;
const hookProgram = join(repositoryRoot, "apps/cli/dist/guard-hook.cjs");

/** Programs that go by these variables reach nothing outside. */
const nowhere = "http://127.0.0.1:9";
const offline = {
  ...{ HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, http_proxy: nowhere, https_proxy: nowhere },
  ...{ NO_PROXY: "127.0.0.1,localhost", no_proxy: "127.0.0.1,localhost", TERM: "dumb" },
};

/** Puts an agent under the guard. */
async function guard({ project: cwd, env }, id) {
  const command = `${process.execPath} ${hookProgram}`;
  const args = [harnessBin, "guard", "init", "--agent", id, "--yes", "--command", command];
  const { code, output } = await run(process.execPath, args, { cwd, env });
  if (code !== 0) throw new Error(`harness guard init failed: ${output.trim()}`);
}

/** Does the work for a cell with a home, a project, a hub, a model and a human of its own. */
const withMachine = (cell, agent, { base, env, script }, work) =>
  withTempDir(join(base, `${agent.id}-${cell.id}-`), async (directory) => {
    const machine = new Machine(directory, { policy, env });
    // Copilot CLI runs its hooks at the root of the repository, which another program may have begun further up.
    execFileSync("git", ["init", "--quiet"], { cwd: machine.project });
    const model = await startScriptedModel((...asked) => script(machine, ...asked));
    const stop = new AbortController();
    try {
      await machine.startHub();
      const human = cell.human && machine.answerAll(cell.human, stop.signal);
      const found = await work(machine, model);
      stop.abort();
      await human;
      return found;
    } finally {
      stop.abort();
      await machine.killHub();
      await model.close();
    }
  });

/** Runs one cell of an agent under its hooks. Returns `{ holds, text, tools }`: what was seen, and the tools that it has offered to its model. */
export async function runHookCell(cell, agent, { program, node, base, seed }) {
  const reason = cell.without?.(agent);
  if (reason !== undefined) return { text: `not run: ${reason}`, tools: [] };
  // The agent's own directory, so that the guard finds it, and that of its node.
  const PATH = [dirname(program), node, process.env.PATH].join(delimiter);
  const tools = new Set();
  let calls = 0;
  const script = (machine, outputs, request) => {
    for (const tool of request.tools) tools.add(tool);
    calls++;
    return cell.script(agent, outputs, request, machine);
  };
  const parts = { base, env: { ...process.env, PATH }, script };
  return await withMachine(cell, agent, parts, async (machine, model) => {
    const { home, project } = machine;
    const started = { home, project, modelUrl: model.url, prompt: "go on", seed, asksUser: true };
    const { args, env } = await agent.prepare(started);
    await guard(machine, agent.id);
    const own = { ...env, PATH, TMPDIR: machine.env.TMPDIR };
    const end = await runProgram({ program, args, env: own, cwd: project, timeoutMs });
    if (machine.isHubDown) await machine.startHub();
    const rows = await machine.rows("pre_action");
    const found = {
      ran: machine.ran(),
      rows,
      outputs: model.outputs,
      records: await machine.records(),
      project,
    };
    const { holds, text } = cell.judge(found);
    if (calls === 0) return { holds: false, text: `it did not ask the model; ${text}`, tools: [] };
    if (end.isTimedOut) return { holds: false, text: `it did not end in time; ${text}`, tools: [...tools] };
    return { holds, text, tools: [...tools] };
  });
}

/** Runs one cell of an agent behind `harness guard acp`, with an editor that carries nothing out. Returns `{ holds, text }`. */
export async function runAcpCell(cell, agent, { program, node, base }) {
  const PATH = [node, process.env.PATH].join(delimiter);
  const unasked = cell.id === "unasked" ? agent.unasked : {};
  const step = unasked.step ?? agent.step;
  const script = (_, outputs) => (outputs.length === 0 ? step(cell.command) : { say: "done" });
  const parts = { base, env: { ...offline, PATH }, script };
  return await withMachine(cell, agent, parts, async (machine, model) => {
    const { home, project } = machine;
    const { env } = await agent.prepare({ home, project, modelUrl: model.url, prompt: "" });
    const guarded = [
      "guard",
      "acp",
      "--name",
      agent.id,
      ...(unasked.guard ?? []),
      "--",
      program,
      ...agent.args,
    ];
    const own = { ...machine.env, ...env, ...agent.env, ...unasked.env };
    const editor = openEditor([harnessBin, ...guarded], project, own);
    try {
      const driven = await drive({ cell, agent, editor, machine });
      const actions = await machine.rows("pre_action", "post_action");
      const row = actions.find(({ tool }) => tool === "bash") ?? actions[0];
      const [{ protection } = {}] = (await machine.client.call("agents.list")).agents;
      return cell.judge({
        ...{ ran: machine.ran(), rows: row === undefined ? [] : [row], records: await machine.records() },
        ...{ outputs: model.outputs, agent: agent.id, protection },
        ...{ asked: editor.asked, updates: editor.updates, stderr: editor.stderr, end: driven },
      });
    } finally {
      await editor.close();
    }
  });
}
