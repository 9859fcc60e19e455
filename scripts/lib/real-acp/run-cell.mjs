import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startScriptedModel } from "../../../packages/guard/dist/doctor.js";
import { createHubClient } from "../../../packages/hub/dist/client.js";
import { hubPlace } from "../../../packages/hub/dist/place.js";
import { createUnixTransport } from "../../../packages/transport-uds/dist/index.js";
import { repositoryRoot } from "../root.mjs";
import { Editor } from "./editor.mjs";

const bin = join(repositoryRoot, "apps", "cli", "dist", "bin.cjs");
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

const policy = `version: 1
name: real-acp
defaults: { gate: allow }
rules:
  - name: no-block
    when: { event: pre_action, cel: 'has(args.command) && args.command.contains("leave.sh block")' }
    then: { decision: block, reason: the policy says no }
  - name: ask
    when: { event: pre_action, cel: 'has(args.command) && args.command.contains("leave.sh ask")' }
    then: { decision: escalate, reason: a human has to say }
`;

/** What is tried: the word that the command leaves behind, and what is done meanwhile. */
export const cells = [
  { id: "allow", word: "allow" },
  { id: "block", word: "block" },
  { id: "approve", word: "ask", answer: { decision: "approve" } },
  { id: "refuse", word: "ask", answer: { decision: "reject", note: "the human says no" } },
  { id: "fail", word: "fail" },
  { id: "unasked", word: "unasked" },
  { id: "cancel", word: "ask", cancel: "session/cancel" },
  { id: "$/cancel_request", word: "ask", cancel: "$/cancel_request" },
];

async function until(look, ms) {
  const end = performance.now() + ms;
  do {
    const found = await look();
    if (found) return found;
    await sleep(50);
  } while (performance.now() < end);
  return undefined;
}

const makeMachine = (base) => {
  const root = mkdtempSync(join(base, "run-"));
  const home = join(root, "home");
  const project = join(root, "project");
  for (const each of [join(home, "tmp"), project]) mkdirSync(each, { recursive: true });
  writeFileSync(join(home, "policy.yaml"), policy);
  const log = join(project, "ran.log");
  const script = `#!/bin/sh\n[ "$1" = fail ] && { echo "it went wrong" >&2; exit 3; }\necho "$@" >> ${log}\n`;
  writeFileSync(join(project, "leave.sh"), script);
  chmodSync(join(project, "leave.sh"), 0o755);
  const ran = () => {
    try {
      return readFileSync(log, "utf8").trim();
    } catch {
      return "";
    }
  };
  return { home, project, ran };
};

async function openHub({ home, project }, env) {
  const hub = spawn(process.execPath, [bin, "hub", "--policy", join(home, "policy.yaml")], {
    cwd: project,
    env,
  });
  let output = "";
  for (const stream of [hub.stdout, hub.stderr]) stream.on("data", (chunk) => (output += chunk));
  if (!(await until(() => output.includes("approvals: "), 60_000))) throw new Error(`no hub: ${output}`);
  const { apiSocket } = hubPlace({ state: join(home, ".local", "state", "harnesskit", "hub") });
  const client = createHubClient({
    transport: createUnixTransport({ path: apiSocket, framing: "newline" }),
    client: { name: "real-acp" },
  });
  await client.connect();
  const close = async () => {
    await client.close();
    const ended = once(hub, "exit");
    hub.kill("SIGTERM");
    await ended;
  };
  return { client, close };
}

/** Runs a cell of an agent, and says what was seen of it. */
export async function runCell(cell, agent, { program, node, base }) {
  const machine = makeMachine(base);
  const { home, project } = machine;
  const isUnasked = cell.id === "unasked";
  const step = (isUnasked && agent.unasked.step) || agent.step;
  const model = await startScriptedModel((outputs) =>
    outputs.length === 0 ? step(`./leave.sh ${cell.word}`) : { say: "done" },
  );
  const PATH = [node, process.env.PATH].join(delimiter);
  const own = { PATH, HOME: home, TERM: "dumb", NO_COLOR: "1", TMPDIR: join(home, "tmp"), ...offline };
  const hub = await openHub(machine, own);
  const env = { ...own, ...agent.env(home, model.url), ...(isUnasked && agent.unasked.env) };
  const guard = ["guard", "acp", "--name", agent.id, ...((isUnasked && agent.unasked.guard) || [])];
  const editor = new Editor(process.execPath, [bin, ...guard, "--", program, ...agent.args], {
    cwd: project,
    env,
  });
  try {
    const seen = await drive({ cell, agent, editor, hub, project });
    const { rows } = await hub.client.call("timeline.page", { filter: {} });
    const { agents } = await hub.client.call("agents.list");
    const { records } = await hub.client.call("inbox.list", {});
    const actions = rows.filter(({ type }) => type === "pre_action" || type === "post_action");
    return {
      ...seen,
      ran: machine.ran(),
      actions,
      agents,
      records,
      stderr: editor.stderr,
      asked: editor.asked,
      model: model.outputs,
    };
  } finally {
    await editor.close();
    await hub.close();
    await model.close();
  }
}

async function drive({ cell, agent, editor, hub, project }) {
  const clientInfo = { name: "real-acp", version: "1" };
  await editor.call("initialize", { protocolVersion: 1, clientCapabilities: {}, clientInfo });
  if (agent.auth !== undefined) await editor.call("authenticate", { methodId: agent.auth });
  const opened = await editor.call("session/new", { cwd: project, mcpServers: [] });
  const { sessionId, modes, configOptions } = opened.result ?? {};
  if (sessionId === undefined) return { problem: JSON.stringify(opened.error) };
  const mode = modes?.currentModeId ?? configOptions?.find(({ id }) => id === "mode")?.currentValue;
  let requestId;
  const prompt = [{ type: "text", text: "go on" }];
  const turn = editor.call("session/prompt", { sessionId, prompt }, (id) => (requestId = id));
  if (cell.word === "ask") {
    const waiting = until(async () => {
      const { records } = await hub.client.call("inbox.list", { status: "pending" });
      return records[0];
    }, 60_000);
    const record = await Promise.race([waiting, turn.then(() => undefined)]);
    if (record !== undefined && cell.answer !== undefined) {
      await hub.client.call("inbox.answer", { id: record.id, digest: record.digest, ...cell.answer });
    } else if (record !== undefined && cell.cancel === "session/cancel") {
      editor.notify("session/cancel", { sessionId });
    } else if (record !== undefined) editor.notify("$/cancel_request", { requestId });
    if (cell.cancel !== undefined && record !== undefined) {
      await until(async () => {
        const { records } = await hub.client.call("inbox.list", { status: "pending" });
        return records.length === 0;
      }, 10_000);
    }
  }
  const end = await Promise.race([turn, sleep(60_000, { error: { message: "no end of the turn" } })]);
  // Reports are notifications: they may come after the end of the turn.
  await sleep(500);
  return { mode, end: end.result?.stopReason ?? `error: ${end.error?.message}`, updates: editor.updates };
}
