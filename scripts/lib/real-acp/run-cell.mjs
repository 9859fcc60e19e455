import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startScriptedModel } from "../../../packages/guard/dist/doctor.js";
import { JsonProcess } from "../json-process.mjs";
import { harnessBin, Machine, until } from "../real-agents/machine.mjs";
import { withTempDir } from "../temp.mjs";
import { policy } from "./cells.mjs";

/** Programs that go by these variables reach nothing outside. */
const nowhere = "http://127.0.0.1:9";
const offline = {
  HTTP_PROXY: nowhere,
  HTTPS_PROXY: nowhere,
  http_proxy: nowhere,
  https_proxy: nowhere,
  NO_PROXY: "127.0.0.1,localhost",
  no_proxy: "127.0.0.1,localhost",
};

/** How long a request of an editor may take. */
const patienceMs = 120_000;

/** Starts a program as an editor does that speaks ACP with it and carries nothing out itself: `asked` and `updates` are what it said. */
function openEditor(args, { project: cwd }, env) {
  const child = spawn(process.execPath, args, { cwd, env, stdio: "pipe", detached: true });
  const agent = new JsonProcess(child, patienceMs);
  const editor = { agent, asked: [], updates: [], close };
  agent.open((message) => {
    if (message.method === undefined) return;
    if (message.id === undefined) editor.updates.push(message.params?.update);
    else {
      editor.asked.push(message);
      agent.send({ id: message.id, error: { code: -32601, message: "not in this editor" } });
    }
  });
  return editor;

  async function close() {
    child.stdin.end();
    await Promise.race([agent.ended, sleep(5000)]);
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended, and so has all that it has started.
    }
    await agent.ended;
  }
}

/** The mode in which the agent started, and what the guard has set, as it said. */
const modeOf = ({ stderr, mode }) => {
  const set = [...stderr.matchAll(/started with (.+?) "(.+?)"; set to "(.+?)"/g)];
  const short = (name = "none") => name.replace(/^.*#/, "");
  if (set.length === 0) return short(mode);
  return set.map(([, , from, to]) => `${short(from)} → ${short(to)}`).join(", ");
};

/** What was seen, in words, and whether it is as it must be. */
const judge = (cell, found, { id }) => {
  if (found.problem !== undefined) return { holds: false, text: found.problem };
  const { ran, actions, records, asked } = found;
  const row = actions.find(({ tool }) => tool === "bash") ?? actions[0];
  const did = ran === "" ? "did not run" : "ran";
  const rowText = row === undefined ? "no row" : `${row.decision?.decision ?? "none"}, ${row.state}`;
  const shown = { ...found, agent: id, row, did, rowText, base: `${did}; ${rowText}`, record: records[0] };
  const { holds, text } = cell.judge(shown);
  // The editor is never asked: the guard answers.
  return { holds: holds && (!cell.isQuiet || asked.length === 0), text };
};

/** Runs a cell of an agent, and says what was seen of it: `{ mode, holds, text, found }`. */
export const runCell = (cell, agent, { program, node, base }) =>
  withTempDir(join(base, "run-"), async (directory) => {
    const PATH = [node, process.env.PATH].join(delimiter);
    const machine = new Machine(directory, { policy, env: { PATH, TERM: "dumb", ...offline } });
    const unasked = cell.id === "unasked" ? agent.unasked : {};
    const step = unasked.step ?? agent.step;
    const model = await startScriptedModel((outputs) =>
      outputs.length === 0 ? step(`./leave.sh ${cell.word}`) : { say: "done" },
    );
    await machine.startHub();
    const env = { ...machine.env, ...agent.env(machine.home, model.url), ...unasked.env };
    const guard = ["guard", "acp", "--name", agent.id, ...(unasked.guard ?? [])];
    const editor = openEditor([harnessBin, ...guard, "--", program, ...agent.args], machine, env);
    try {
      const driven = await drive({ cell, agent, editor, machine });
      const { rows } = await machine.client.call("timeline.page", { filter: {} });
      const { agents } = await machine.client.call("agents.list");
      const { records } = await machine.client.call("inbox.list", {});
      const actions = rows.filter(({ type }) => type === "pre_action" || type === "post_action");
      const found = {
        ...{ ...driven, ran: machine.ran().join("\n"), actions, agents, records },
        ...{ stderr: editor.agent.stderr, asked: editor.asked, model: model.outputs },
      };
      return { mode: modeOf(found), ...judge(cell, found, agent), found };
    } finally {
      await editor.close();
      await machine.killHub();
      await model.close();
    }
  });

async function drive({ cell, agent, editor, machine }) {
  const request = (...args) => editor.agent.request(...args);
  const notify = (method, params) => editor.agent.send({ method, params });
  const clientInfo = { name: "real-acp", version: "1" };
  await request("initialize", { protocolVersion: 1, clientCapabilities: {}, clientInfo });
  if (agent.auth !== undefined) await request("authenticate", { methodId: agent.auth });
  const opened = await request("session/new", { cwd: machine.project, mcpServers: [] });
  const { sessionId, modes, configOptions } = opened.result ?? {};
  if (sessionId === undefined) return { problem: JSON.stringify(opened.error) };
  const mode = modes?.currentModeId ?? configOptions?.find(({ id }) => id === "mode")?.currentValue;
  let requestId;
  const prompt = [{ type: "text", text: "go on" }];
  const turn = request("session/prompt", { sessionId, prompt }, (id) => (requestId = id)).catch(
    ({ message }) => ({ error: { message } }),
  );
  const waiting = cell.word === "ask" && until(async () => (await machine.pending())[0], 60_000);
  const record = await Promise.race([waiting, turn.then(() => undefined)]);
  if (record) {
    if (cell.answer !== undefined) await machine.answer(record, cell.answer);
    if (cell.cancel === "session/cancel") notify("session/cancel", { sessionId });
    if (cell.cancel === "$/cancel_request") notify("$/cancel_request", { requestId });
    if (cell.cancel !== undefined) await until(async () => (await machine.pending()).length === 0, 10_000);
  }
  const end = await Promise.race([turn, sleep(60_000, { error: { message: "no end of the turn" } })]);
  // Reports are notifications: they may come after the end of the turn.
  await sleep(500);
  return { mode, end: end.result?.stopReason ?? `error: ${end.error?.message}`, updates: editor.updates };
}
