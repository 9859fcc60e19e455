import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createStdioChannel } from "../../../packages/transport-stdio/dist/index.js";
import { methodNotFound } from "../../../packages/wire/dist/index.js";
import { createPeer } from "../../../packages/wire/dist/rpc.js";
import { until } from "./machine.mjs";

/** How long a request of an editor may take. */
const patienceMs = 120_000;

/** Starts a program as an editor does that speaks ACP with it and carries nothing out itself: `asked` and `updates` are what it said. */
export function openEditor(args, cwd, env) {
  const child = spawn(process.execPath, args, { cwd, env, stdio: "pipe", detached: true });
  const ended = once(child, "exit");
  const editor = { asked: [], updates: [], stderr: "", close };
  child.stderr.setEncoding("utf8").on("data", (text) => {
    editor.stderr += text;
  });
  const channel = createStdioChannel({ input: child.stdout, output: child.stdin, watchParent: false });
  const handlers = {
    request(method) {
      editor.asked.push(method);
      throw methodNotFound(method);
    },
    notification: (_, params) => void editor.updates.push(params?.update),
  };
  editor.peer = createPeer(channel, handlers, { requestTimeoutMs: patienceMs });
  return editor;

  async function close() {
    child.stdin.end();
    await Promise.race([ended, sleep(5000)]);
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended, and so has all that it has started.
    }
    await ended;
  }
}

/** Has the agent do one turn, which is cancelled while its question waits where the cell says so. Returns how the turn ended. */
export async function drive({ cell, agent, editor: { peer }, machine }) {
  const clientInfo = { name: "real-agents", version: "1" };
  await peer.request("initialize", { protocolVersion: 1, clientCapabilities: {}, clientInfo });
  if (agent.auth !== undefined) await peer.request("authenticate", { methodId: agent.auth });
  const { sessionId } = await peer.request("session/new", { cwd: machine.project, mcpServers: [] });
  const prompt = [{ type: "text", text: "go on" }];
  const turn = peer.request("session/prompt", { sessionId, prompt }).then(
    ({ stopReason }) => stopReason,
    ({ message }) => `error: ${message}`,
  );
  if (cell.cancel !== undefined) {
    const waiting = until(async () => (await machine.pending()).length > 0, 60_000);
    await Promise.race([waiting, turn]);
    await peer.notify(cell.cancel, { sessionId });
    await until(async () => (await machine.pending()).length === 0, 10_000);
  }
  const end = await turn;
  // Reports are notifications: they may come after the end of the turn.
  await sleep(500);
  return end;
}
